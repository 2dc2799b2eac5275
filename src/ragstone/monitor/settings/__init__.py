"""Settings: the one TOML file that says how a monitor judges, keeps and alarms.

monitor_settings  all of it, what holds without a file, and what must be there before a start
sections          judging, drawing, redaction, retention, write-back and notification channels
alarm_rules       what an alarm is raised for, and what it promises
settings_table    a table as it is read: right values, or faults with their lines
"""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
