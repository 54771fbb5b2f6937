"""A JupyterHub on loopback for the test: each user's server runs in a container of its own, made by bubblewrap.

As in the usual images, the account in the container is jovyan, whoever the user of the hub is.
"""

import os
import sys
from pathlib import Path

here = Path(os.environ["HUB_FOLDER"])
port = int(os.environ["HUB_PORT"])
programs = Path(sys.executable).parent

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.JupyterHub.bind_url = f"http://127.0.0.1:{port}"
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{port + 1}"
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{port + 2}"
c.ConfigurableHTTPProxy.command = [str(programs / "configurable-http-proxy")]
c.ConfigurableHTTPProxy.pid_file = str(here / "proxy.pid")
c.JupyterHub.cookie_secret_file = str(here / "cookie_secret")
c.JupyterHub.db_url = f"sqlite:///{here / 'hub.sqlite'}"

c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.services = [{"name": "test", "api_token": os.environ["HUB_TOKEN"]}]
c.JupyterHub.load_roles = [
    {"name": "test", "scopes": ["admin:users", "admin:servers", "access:servers"], "services": ["test"]}
]

c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(here / "homes" / "{username}")
c.Spawner.cmd = [
    "bwrap", "--dev-bind", "/", "/", "--ro-bind", str(here / "passwd"), "/etc/passwd", "--",
    str(programs / "jupyterhub-singleuser"), "--allow-root",
]  # fmt: skip
c.Spawner.environment = {"JUPYTER_CONFIG_DIR": str(here / "config"), "PATH": os.environ["PATH"]}
c.Spawner.start_timeout = 120
c.Spawner.http_timeout = 120
