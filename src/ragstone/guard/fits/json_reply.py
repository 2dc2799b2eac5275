"""JSON reply: what is given in place of a JSON reply, once its answers are judged."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.core.messages import reason

from .answer_places import AnswerPlaces
from .encoded import Undecodable, decoded
from .exchange import Exchange
from .extraction import Extraction, NotFound
from .heard_request import HeardRequest
from .on_fail import HELD, OnFail
from .reply_note import note_of
from .request_guard import RequestGuard, log_error
from .ruling import Ruling

UNAVAILABLE = 503


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """What is given.

    Attributes:
        rulings: One for each answer of the reply, or one for a reply without an answer.
        action: ``passed``, ``marked``, ``replaced`` or ``refused``.
        body: The bytes to give; None: those of the app.
        status: The status to give; None: that of the app.
    """

    rulings: Sequence[Ruling]
    action: str
    body: bytes | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class JsonReplies:
    """Judges JSON replies.

    Attributes:
        guard: What judges.
        extraction: Where question and contexts are found.
        places: Where the answers stand.
        on_fail: What is given in place of an answer that is held back.
        body_key: Key under which a note of each answer is added.
        most_bytes: A longer reply is not judged.
    """

    guard: RequestGuard
    extraction: Extraction
    places: AnswerPlaces
    on_fail: OnFail
    body_key: str | None
    most_bytes: int

    async def judged(
        self, body: bytes, encoding: str, request: HeardRequest, told: Exchange
    ) -> JudgedReply:
        """What is given in place of a body.

        Args:
            body: All of it.
            encoding: The header ``content-encoding``.
            request: What was asked.
            told: By ``tell_guard``.
        """
        try:
            value = json.loads(decoded(body, encoding, self.most_bytes))
            answers = self.places.answers(value)
            if not answers:
                why = reason("nothing_at", path=self.places, part="reply")
                return self.unseen(why, request, told)
            return self._given(value, await self._rulings(answers, value, request, told))
        except Undecodable as error:
            return self.unseen(error.why, request, told)
        except (ValueError, RecursionError):
            return self.unseen(reason("broken_json", part="reply"), request, told)
        except Exception as error:
            log_error("guard failed", error, request.run_id)
            why = reason("guard_failed", error=type(error).__name__)
            return self.unseen(why, request, told)

    def unseen(self, why: str, request: HeardRequest, told: Exchange) -> JudgedReply:
        """What is given in place of a reply in which no answer can be seen.

        Args:
            why: The reason, as a code with its facts.
            request: What was asked.
            told: By ``tell_guard``.
        """
        ruling = self.guard.not_judged(why, told.over(Exchange(run_id=request.run_id)))
        if ruling.held and self.on_fail is not None:
            status = self.on_fail if isinstance(self.on_fail, int) else UNAVAILABLE
            return self._refused([ruling], status)
        return JudgedReply([ruling], "marked" if ruling.held else "passed")

    async def _rulings(
        self, answers: Sequence[str | None], reply: Any, request: HeardRequest, told: Exchange
    ) -> list[Ruling]:
        known, why = told.over(Exchange(run_id=request.run_id)), None
        try:
            known = await self.extraction.exchange(request, told, reply)
        except NotFound as error:
            why = error.why
        found = []
        for answer in answers:
            if answer is None:
                found.append(self.guard.not_judged(reason("no_text"), known, passes=True))
            elif why is not None:
                found.append(self.guard.not_judged(why, known))
            else:
                found.append(await self.guard.aruling(answer, known))
        return found

    def _given(self, value: Any, rulings: Sequence[Ruling]) -> JudgedReply:
        held = any(one.held for one in rulings)
        if held and isinstance(self.on_fail, int):
            return self._refused(rulings, self.on_fail)
        action, changed = "marked" if held else "passed", value
        if held and isinstance(self.on_fail, str):
            texts = [self.on_fail if one.held else None for one in rulings]
            action, changed = "replaced", self.places.replaced(value, texts)
        if self.body_key is not None and isinstance(changed, dict):
            beside = self.places.beside(value)
            told = [note_of(one, action if one.held else "passed", beside) for one in rulings]
            changed = {**changed, self.body_key: told[0] if len(told) == 1 else told}
        return JudgedReply(rulings, action, None if changed is value else _written(changed))

    def _refused(self, rulings: Sequence[Ruling], status: int) -> JudgedReply:
        codes = [issue.code for one in rulings for issue in one.assessment.issues]
        codes += [one.unjudged for one in rulings if one.unjudged]
        error = {
            "message": self.on_fail if isinstance(self.on_fail, str) else HELD,
            "type": "answer_held",
            "code": codes[0] if codes else None,
        }
        return JudgedReply(rulings, "refused", _written({"error": error}), status)


def _written(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
