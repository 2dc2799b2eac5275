"""Settings: the settings of a run, as stored in ``run.json`` and compared on resume."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from .written import Several


class ChatSettings(BaseModel):
    """The judges that are chat models, and their instructions."""

    judges: dict[str, Several[str]]
    plan: str
    prompts: dict[str, str]
    rubrics: str


class RunSettings(BaseModel):
    """The settings of a run, in the order of ``run.json``.

    Other content, from a later version or added by hand, is kept unchanged. Fields with a
    default are written and compared, and read by nothing else.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    ragstone: str = ""
    data: str
    """Fingerprint of the examples."""
    labels: Any = ()
    """Fingerprints of the label files."""
    metrics: Any = ()
    definitions: dict[str, str]
    """Fingerprints of the user's own metrics."""
    suites: Any = ()
    judges: Any = ()
    local: Several[str]
    """The parts of the local judge."""
    nli: Several[str]
    """The models of its NLI judges, each as ``NAME@FINGERPRINT``."""
    llm: ChatSettings | None = None
    """Absent where no judge is a chat model."""
    encoder: Any = None
    bertscore: Any = None
    cross_encoder: Any = None
    citations: str
    by: Any = ()
    cluster: str
    columns: Any = None
    limit: Any = None
    skip_bad: Any = None

    def to_dict(self) -> dict[str, Any]:
        """As stored in ``run.json``."""
        return self.model_dump(exclude_unset=True)
