"""Monitor tabs: the screens of the monitor."""

HERE = "Monitor"

MONITOR_TABS = (
    ("/monitor", "Overview"),
    ("/monitor/examples", "Answers"),
    ("/monitor/drift", "Drift"),
    ("/monitor/rules", "Rules"),
    ("/monitor/log", "Log"),
)
"""The address and the name of each."""
