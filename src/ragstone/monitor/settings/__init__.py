"""Settings: the one TOML file that says how a monitor judges, keeps and alarms.

monitor_settings  all of it, what holds without a file, and what must be there before a start
sections          judging, drawing, redaction, retention, write-back and notification channels
alarm_rules       what an alarm is raised for, and what it promises
settings_table    a table as it is read: right values, or faults with their lines
"""

from .alarm_rules import AlarmPromise, AlarmRule, BaselineSettings, NoDataSettings
from .monitor_settings import DEFAULTS, MonitorSettings, read_settings
from .sections import (
    EmailChannel,
    FileChannel,
    GuardStep,
    NotificationSettings,
    SamplingSettings,
    StdoutChannel,
    WebhookChannel,
    WriteBackSettings,
)
from .settings_table import FaultySettings

__all__ = [
    "DEFAULTS", "AlarmPromise", "AlarmRule", "BaselineSettings", "EmailChannel", "FaultySettings",
    "FileChannel", "GuardStep", "MonitorSettings", "NoDataSettings", "NotificationSettings",
    "SamplingSettings", "StdoutChannel", "WebhookChannel", "WriteBackSettings", "read_settings",
]  # fmt: skip
