"""Writes docs/trace-attributes.md from the names and limits that the monitor reads traces by.

python docs/trace_names.py
"""

# ruff: noqa: E501
# A row of a Markdown table is one line.

from collections.abc import Iterator
from pathlib import Path

from ragstone.data.traces import FACTS, SpanLimits
from ragstone.data.traces.attribute_names import ROLES

PAGE = Path(__file__).with_name("trace-attributes.md")

HEAD = """\
# What is read of a trace

The attributes that the monitor reads, what it makes of them, and what it does not take in. Written by
`python docs/trace_names.py`. [Watch production](watch.md) says how to send traces.
"""

BECOMES = """\
## What becomes of a trace

Spans and log events may come in any order, in several requests, more than once, and late. Each time, all that is known of a
trace is put together again, and the same spans give the same example.

| of the example | where it comes from |
|---|---|
| question | the input of the trace, or of its outermost span that has one; else the user's last message to the model. If this is a prompt that holds the passages, a better source wins, such as the search query |
| contexts | the results of rerankers, else of all retrievals, each passage once. A retriever inside another one is not counted twice. Ids and scores are optional |
| answer | the output of the trace, or of its outermost span that has one; else the model's last message. Output of tools, guardrails and evaluators does not count |
| history | the messages before the question, without those of the system and of tools |
| model, tokens | the model that wrote the answer; the tokens of all calls, each counted once |
| latency | of the root span |
| error | of the root span; if there is no answer, of any span. A failed answer is an empty one |
| system, version | `service.name` and `service.version` of the resource, or the other names below |
| slices | the environment, the session, and the metadata of the root span |

Inputs and outputs may be texts, chat messages of any usual shape, or JSON that holds either, such as LangChain's
`{"messages": …}` and `{"question": …, "chat_history": …}`, or lists of parts. An answer that is another object, a list, a number
or a truth value is read as its JSON. The state of a pipeline and calls of tools are no answers.

**Several requests in one trace** give several examples. A request is: a root; the spans under one missing parent (if several
parents are missing); an orphan that begins after the root has ended; and, if the root has no question or answer itself, each span
below it that contains a retrieval and an answer. A span without a retrieval is one too if it has a question and an answer of its
own that differ from the others'. Retrievals and calls side by side are several requests if each call asks what was searched for
just before it. Spans that work on the same question are steps of one request.

**Several answers in one request**: the one that rests on the passages counts. A call beside it that writes a title, or that
was not handed the passages, does not answer the user, unless it rewrites the answer that it was handed.

**Log events** are `gen_ai.client.inference.operation.details`, and the older ones of one message each, `gen_ai.user.message` to
`gen_ai.choice`. Other log records are accepted and not kept.
"""

NAMES = """\
## Attributes

The first one that is there counts. `N` counts from 0.
"""

DOES = """\
## What a span does

A span that does not say what it does is known by what it has.
"""

WORDS = {
    "call": "a call of a model",
    "aside": "set aside: guardrails and evaluators",
}

REDACTED = """\
## What is taken out before anything is kept

Every text is redacted before it is stored or judged: attributes, nested values, JSON inside texts, names, events, log bodies, and
what is put aside.

| mark | what it stands for |
|---|---|
| `[email]` | e-mail addresses |
| `[phone]` | phone numbers with a country code, in groups, or with an area code; ten bare digits may be any number and stay |
| `[card]` | card numbers of 13 to 19 digits with a valid check digit |
| `[key]` | API keys (`sk-…`, `AKIA…`, `ghp_…`, `xox…`, `AIza…` and the like), bearer tokens, JSON web tokens, private keys |

You can add regular expressions, each with its name as its mark ([`[redaction]`](monitor-rules.md#every-other-setting)).
Names and postal addresses stay. Ids and times of the protocol, and numbers that are no texts, are left as they are. An id of a
user or a session that holds any of these becomes a hash, the same for the same id: users stay apart, and
`ragstone monitor erase --user ann@example.org` finds it.
"""


def limits() -> str:
    """The section on what is put aside, refused or cut."""
    most = SpanLimits()
    return f"""\
## What is put aside

A span that cannot be taken in does not hold up the others. It is counted, and its first 4 kB are kept, redacted, with the reason; of
all of these, the last 1,000.

| reason | why |
|---|---|
| `bad_trace_id`, `bad_span_id` | an id that is missing, all zeros, or of the wrong length |
| `absurd_time` | it does not begin between 2000 and 2100, or ends more than a minute before it begins (clocks are set) |
| `too_many_attributes`, `span_too_long` | more than {most.attributes:,} attributes, or {most.span_length // 10**6} MB |
| `log_without_trace` | the event of a call that names no trace |
| `not_otlp`, `not_json`, `faulty_example` | an item that is not what it should be |

A request with too much in it is refused as a whole, with status 413, before its parts are read. It has at most {most.spans:,} spans
or log records (with their events, links, groups, and the resources and scopes that they name), {most.examples:,} examples (with
the items of their lists, such as contexts, except numbers), and {most.values:,} values at any depth.

A text of more than {most.attribute_length:,} characters is cut there and ends in `… [cut]`.
"""


def names() -> Iterator[str]:
    """One row a fact, with the attributes that say it, the first of them first."""
    yield "| what | attributes |\n|---|---|\n"
    for fact in FACTS:
        attributes = [f"`{name}`" for name in fact.names]
        attributes += [f"`{beginning}.N.…`" for beginning in fact.lists]
        yield f"| {fact.says} | {', '.join(attributes)} |\n"


def roles() -> Iterator[str]:
    """One row for each thing that a span does, with the values that say so."""
    yield "| what it does | values, in any case |\n|---|---|\n"
    for role in dict.fromkeys(ROLES.values()):
        values = ", ".join(f"`{value}`" for value, said in ROLES.items() if said == role)
        yield f"| {WORDS.get(role, role)} | {values} |\n"


def page() -> str:
    """The page as it is now."""
    parts = [HEAD, BECOMES, NAMES, "".join(names()), DOES, "".join(roles()), REDACTED, limits()]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
