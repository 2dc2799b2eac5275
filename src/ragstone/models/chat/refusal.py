"""Refusal: classifies the error replies of all servers.

The error bodies of OpenAI, Azure, Anthropic, Gemini, Bedrock, vLLM, Ollama, LM Studio and llama.cpp
are read in the same way, because gateways relay one provider's message in another's format.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ragstone.models.server import one_line, retry_after

from .failure import ChatFailure, Trouble

BODY_SHOWN = 500
HEAD = 300
"""Only this many characters of an error message are searched for a parameter's name: some servers
repeat the request further on."""

INVALID_REQUEST = {400, 413, 422, 501}

NO_CREDIT = re.compile(
    r"insufficient_quota|insufficient.balance|billing_(?:error|not_active|hard_limit)|"
    r"credit_balance|credit balance is too low|specified api usage limits|spend_limit_reached"
)
TOO_LONG = re.compile(
    r"context[ _](?:length|window|size|limit)|prompt is too long|input is too long|"
    r"maximum number of tokens|too many (?:input |total )?tokens|input tokens exceeded|"
    r"exceeds? the (?:maximum )?(?:allowed )?(?:number of )?(?:input )?tokens|"
    r"max_new_tokens. must be <=|expected maxlength|longer than the maximum model length|"
    r"string_above_max_length|request_too_large"
)
NEVER_FITS = re.compile(r"request too large for")
FILTERED = re.compile(
    r"content_filter|responsibleaipolicyviolation|content_policy_violation|"
    r"content management policy|content filtering policy|invalid_prompt|was flagged|"
    r"prohibited_content|guardrail"
)
BAD_KEY = re.compile(
    r"api[ _]key not valid|api_key_invalid|invalid_api_key|invalid api key|"
    r"incorrect api key|location is not supported|unrecognizedclientexception"
)
NO_MODEL = re.compile(
    r"model_not_found|model identifier is invalid|invalid model|unknown model|"
    r"model.{0,80}(?:not found|does not exist|is not a valid model)"
)
FEATURES = {
    name: re.compile(words)
    for name, words in {
        "effort": r"reasoning_effort|reasoning\.effort|output_?config\.effort|\beffort\b|"
        r"thinking(?:_|config|level|budget|\b)|\bbudget \d+ is invalid",
        "schema": r"response_?format|json[_ ]schema|response_?json_?schema|response_?schema|"
        r"output_?config(?!\.effort)|output_?format|response_?mime_?type|structured output|"
        r"json mode|\bgrammar\b|\bschema\b|textformat",
        "temperature": r"\btemperature\b",
        "top_p": r"\btop_?p\b",
        "seed": r"\bseed\b",
        "max_completion_tokens": r"\bmax_completion_tokens\b",
        "max_tokens": r"\bmax_?tokens\b|\bmax_?output_?tokens\b",
        "system": r"system role|system_?instruction|developer instruction|roles must alternate|"
        r"only user and assistant roles|system messages? (?:is|are) not supported",
    }.items()
}
"""Features that a server may not support, and the patterns of its error messages."""


class Unsupported(ChatFailure):
    """The server does not support a feature of the request.

    Attributes:
        features: Which it may be; keys of ``FEATURES``.
    """

    def __init__(self, features: tuple[str, ...], words: str, *, http: int, body: str) -> None:
        self.features = features
        super().__init__("rejected", words, http=http, body=body)


@dataclass(frozen=True, slots=True)
class _Said:
    """The content of an error reply: message, codes, the parameter at fault, delay for a retry."""

    words: str = ""
    codes: str = ""
    parameter: str = ""
    after: float = 0.0

    @property
    def all(self) -> str:
        return f"{self.codes} {self.words}".lower()


def refused(status: int, headers: Mapping[str, str], body: bytes) -> ChatFailure:
    """An error reply as a ``ChatFailure``.

    Args:
        status: Of the reply.
        headers: Of the reply; ``Retry-After`` is read.
        body: Of the reply, without any key.

    Returns:
        ``Unsupported`` if the server names a feature that could be left out.
    """
    said = _said(body)
    if 300 <= status < 400:
        said = replace(said, words="a redirect, which is not followed")
    shown = one_line(said.words)
    words = f"replied {status}{': ' if shown else ''}{shown}"
    sent = one_line(body.decode(errors="replace"), BODY_SHOWN)
    trouble = _trouble(status, said)
    features = _features(said) if trouble == "rejected" and status in INVALID_REQUEST else ()
    if features:
        return Unsupported(features, words, http=status, body=sent)
    after = max(retry_after(headers), said.after)
    return ChatFailure(trouble, words, after=after, http=status, body=sent)


def _trouble(status: int, said: _Said) -> Trouble:
    text = said.all
    if status == 402 or (status < 500 and NO_CREDIT.search(text)):
        return "no_credit"
    if status in INVALID_REQUEST or status == 403:
        if FILTERED.search(text):
            return "filtered"
        if TOO_LONG.search(text):
            return "too_long"
    if status == 413 or (status == 429 and NEVER_FITS.search(text)):
        return "too_long"
    if status in (401, 403) or (status == 400 and BAD_KEY.search(text)):
        return "not_allowed"
    if status in (404, 405, 410) or status < 400:
        return "not_found"
    if status == 400 and NO_MODEL.search(text):
        return "not_found"
    if status == 429:
        return "rate_limit"
    if status in (408, 409, 425) or (status >= 500 and status != 501):
        return "server_error"
    return "rejected"


def _features(said: _Said) -> tuple[str, ...]:
    """The features that the server may not support; only the parameter's if it names one."""
    text = (said.parameter or said.words[:HEAD]).lower()
    return tuple(name for name, words in FEATURES.items() if words.search(text))


def _said(body: bytes) -> _Said:
    text = body.decode(errors="replace")
    try:
        reply: Any = json.loads(text)
    except (ValueError, RecursionError):
        return _Said("" if text.lstrip().startswith("<") else text)
    if isinstance(reply, list) and reply:
        reply = reply[0]
    if not isinstance(reply, dict):
        return _Said(reply if isinstance(reply, str) else "")
    error = reply.get("error", reply)
    if not isinstance(error, dict):
        return _Said(str(error), _codes(reply))
    words = next((error[name] for name in ("message", "Message", "detail") if error.get(name)), "")
    inner = error.get("innererror")
    details = error.get("details")
    details = [one for one in details if isinstance(one, dict)] if isinstance(details, list) else []
    codes = [_codes(one) for one in (reply, error, inner, *details) if isinstance(one, dict)]
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    parameter = error.get("param")
    return _Said(
        words=_sentence(words) + _filters(inner) + (f" ({raw})" if isinstance(raw, str) else ""),
        codes=" ".join(codes),
        parameter=parameter if isinstance(parameter, str) else "",
        after=max((_delay(one.get("retryDelay")) for one in details), default=0.0),
    )


def _codes(made: Mapping[str, Any]) -> str:
    names = ("type", "code", "status", "reason", "error_type", "__type")
    return " ".join(str(made[name]) for name in names if made.get(name))


def _sentence(words: object) -> str:
    """A message, or the validation errors that the server lists, each with its location."""
    if isinstance(words, str):
        return words
    faults = words if isinstance(words, list) else [words]
    listed = []
    for fault in faults:
        if isinstance(fault, dict):
            place = fault.get("loc")
            where = ".".join(map(str, place)) if isinstance(place, list) else ""
            listed.append(f"{where}: {fault.get('msg') or fault.get('message') or ''}")
    return "; ".join(listed)


def _filters(inner: object) -> str:
    """Which of Azure's content filters applied."""
    results = inner.get("content_filter_result") if isinstance(inner, dict) else None
    if not isinstance(results, dict):
        return ""
    which = [name for name, one in results.items() if isinstance(one, dict) and one.get("filtered")]
    return f" ({', '.join(which)})" if which else ""


def _delay(text: object) -> float:
    """Seconds, from Gemini's form ``34.07s``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)s", text) if isinstance(text, str) else None
    return float(found[1]) if found else 0.0
