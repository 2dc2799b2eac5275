"""Settings: the one TOML file that says how a monitor judges, keeps and alarms.

places     on which line each key stands
fault      one thing wrong, and all of them together
table      a table as it is read: right values, or faults
judging    what is judged, by whom, for how much; which answers are drawn
keeping    what is taken out of texts, how long they are kept, where they go
rule       what an alarm is raised for, and what it promises
tell       who is told
settings   all of it, and what holds without a file
starting   what it names and a monitor has to have before it starts
"""

from .alarm_rules import AlarmPromise, AlarmRule, BaselineSettings, NoDataSettings
from .monitor_settings import DEFAULTS, MonitorSettings, read_settings
from .sections import (
    EmailChannel,
    FileChannel,
    GuardStep,
    JudgingSettings,
    RedactionSettings,
    RetentionSettings,
    SamplingSettings,
    StdoutChannel,
    TellSettings,
    WebhookChannel,
    WriteBackSettings,
)
from .settings_table import FaultySettings, SettingsFault

__all__ = [
    "DEFAULTS",
    "AlarmPromise",
    "AlarmRule",
    "BaselineSettings",
    "EmailChannel",
    "FaultySettings",
    "FileChannel",
    "GuardStep",
    "JudgingSettings",
    "MonitorSettings",
    "NoDataSettings",
    "RedactionSettings",
    "RetentionSettings",
    "SamplingSettings",
    "SettingsFault",
    "StdoutChannel",
    "TellSettings",
    "WebhookChannel",
    "WriteBackSettings",
    "read_settings",
]
