#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: bubblewrap, libseccomp, Python 3.11 or newer, and the locked
# environment in source/.venv.
set -euo pipefail
cd "$(dirname "$0")"
apt-get update
apt-get install -y --no-install-recommends bubblewrap libseccomp2 python3 python3-venv
python=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  apt-get install -y --no-install-recommends python3.11 python3.11-venv
  python=python3.11
fi
"$python" tools/bootstrap.py
