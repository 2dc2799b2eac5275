"""Identity: models, prompts and plan that identify a judge, and what has changed in them."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from ragstone.judges import fingerprint
from ragstone.judges.judge import HumanJudge
from ragstone.run import Run
from ragstone.run.written import Several

PARTS = ("nli", "encoder", "cross_encoder", "bertscore", "citations")
"""Settings of a run beside the models and prompts of LLMs that a judge's word depends on."""


class JudgeIdentity(BaseModel):
    """Models, prompts and plan of the judges of a run.

    Models stand with their parameters, prompts with the hash of their text. A part that a run
    does not have is left unset, and one that a later version writes is compared too.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    judges: Several[str] = []
    models: dict[str, Several[str]] = {}
    prompts: dict[str, str] = {}
    rubrics: str | None = None
    plan: str | None = None
    local: Several[str] = []

    @property
    def id(self) -> str:
        """A hash of the identity in twelve hex digits."""
        return fingerprint(json.dumps(self.to_dict(), sort_keys=True))[:12]

    def to_dict(self) -> dict[str, Any]:
        """As a passport has it."""
        return self.model_dump(exclude_unset=True)


def identity(run: Run) -> JudgeIdentity:
    """Who the judges of a run are."""
    settings = run.form.settings
    spoke = [judge.name for judge in run.form.judges if judge.kinds]
    chat = settings.llm
    return JudgeIdentity(
        judges=sorted(name for name in spoke if _kind(name) != HumanJudge.name),
        models={} if chat is None else chat.judges,
        prompts={} if chat is None else chat.prompts,
        rubrics=None if chat is None else chat.rubrics,
        plan=None if chat is None else chat.plan,
        local=settings.local if "local" in map(_kind, spoke) else [],
        **{name: value for name in PARTS if (value := getattr(settings, name))},
    )


def _kind(judge: str) -> str:
    """The kind of judge that a name begins with: ``local`` of ``local:strings``."""
    return judge.partition(":")[0]


def changes(then: JudgeIdentity, now: JudgeIdentity) -> list[str]:
    """The differences of two identities, one line for each part; empty if there are none."""
    lines, before, after = [], then.to_dict(), now.to_dict()
    for part in dict.fromkeys([*before, *after]):
        had, has = before.get(part), after.get(part)
        if had == has:
            continue
        if isinstance(had, Mapping) and isinstance(has, Mapping):
            names = [name for name in dict.fromkeys([*had, *has]) if had.get(name) != has.get(name)]
            lines += [f"{part}: {name} was {_short(had.get(name))}, is {_short(has.get(name))}"
                      for name in names]  # fmt: skip
        else:
            lines.append(f"{part}: was {_short(had)}, is {_short(has)}")
    return lines


def _short(value: object, most: int = 60) -> str:
    if value is None or value == [] or value == {}:
        return "none"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
