"""No script: processes that begin with their imports done, so that to start one takes no second.

Each is forked from one without threads that has imported what a monitor needs.
"""

from multiprocessing import get_context

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["ragstone.monitor.worker", "ragstone.web.monitor_server"])
