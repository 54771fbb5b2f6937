"""What a process behind the walls can find out about them, printed as JSON; `diagnosis` judges it.

It stands on its own: in there is no package of ours.
"""

import json
import os
import socket
from collections.abc import Callable
from typing import Any


def fails(action: Callable[..., Any], *given: Any) -> bool:
    """Say whether an action is refused."""
    try:
        action(*given)
    except OSError:
        return True
    return False


def main() -> None:
    """Look around, and tell."""
    with open("/proc/self/status") as lines:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)
    with open("/proc/net/dev") as lines:
        interfaces = sorted(line.partition(":")[0].strip() for line in list(lines)[2:])
    with open("/proc/net/route") as lines:
        routes = list(lines)
    places = ("/", "/usr", "/dev", os.path.dirname(os.__file__), "/proc/sys/kernel")
    facts = {
        "uid": os.getuid(),
        "rights": [int(value, 16) for name, value in status.items() if name.startswith("Cap")],
        "no_new_privs": status["NoNewPrivs"] == "1",
        "filter": status["Seccomp"] == "2",
        "interfaces": interfaces,
        "routes": len(routes) - 1,
        "no_other_sockets": all(fails(socket.socket, family) for family in (socket.AF_PACKET, socket.AF_VSOCK)),
        "processes": sum(name.isdigit() for name in os.listdir("/proc")),
        "hidden": [not os.path.exists(path) for path in json.loads(os.environ["HIDDEN"])],
        "unwritable": [fails(open, os.path.join(place, "probe"), "w") for place in places],
    }
    print(json.dumps(facts))


main()
