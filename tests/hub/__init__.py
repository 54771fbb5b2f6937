"""nbgrader's exchange on a real JupyterHub."""
