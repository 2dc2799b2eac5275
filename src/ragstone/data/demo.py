"""Demo: 30 questions about Cornwall, answered by three systems, one of them in two versions.

The passages state facts of public knowledge in our own words. Faults of retrieval and of answers
are planted on purpose; where one is, ``meta.planted`` says of which kind it is and what is wrong.
``basic_search`` has a second version, which finds and cites better: ``demo_records(2)``.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

SYSTEMS = ("local_search", "basic_search", "llm_with_context")
# The system that has a second version.
CHANGED = "basic_search"

# What marks a sentence that its contexts do not support, and one about which careful readers may
# disagree.
UNSUPPORTED, DOUBTFUL = "✗ ", "~ "


def demo_records(version: Literal[1, 2] = 1) -> Iterator[dict[str, Any]]:
    """Yield the records of all systems (version 1) or of the changed system's second version (2).

    They are as in a file for ``ragstone evaluate``; turns of a conversation carry their history.
    """
    passages = _table("passages")
    earlier: dict[str, list[dict[str, str]]] = {}
    for question in _table("questions")["questions"]:
        for system in SYSTEMS if version == 1 else (CHANGED,):
            reply = question[system if version == 1 else f"{system}_v{version}"]
            answer = " ".join(map(_text, reply["answer"]))
            record = {
                "id": f"{question['id']}-{system}",
                "question_id": question["id"],
                "system": system,
                "question_type": question["type"],
                "language": question.get("language", "English"),
                "question": question["question"],
                "contexts": [{"id": name, "text": passages[name]} for name in reply["contexts"]],
                "answer": answer,
                "reference_contexts": question["gold"],
            }
            if "reference" in question:
                record["reference"] = question["reference"]
            if "session" in question:
                record["session"] = f"{question['session']}-{system}"
                turns = earlier.setdefault(record["session"], [])
                record["history"] = list(turns)
                turns += (
                    {"role": "user", "content": question["question"]},
                    {"role": "assistant", "content": answer},
                )
            if "planted" in reply:
                record["meta"] = {"planted": reply["planted"]}
            yield record


# Who labelled the answers of the first version: both are Ragstone's authors.
ANNOTATORS = ("annotator-1", "annotator-2")


def demo_label(annotator: str, example: str, claim: str) -> str:
    """Return whether a claim of an answer is ``supported`` or ``absent``, as an annotator says.

    The second one is stricter with what careful readers may judge differently.
    """
    marks = (UNSUPPORTED,) if annotator == ANNOTATORS[0] else (UNSUPPORTED, DOUBTFUL)
    marked = [sentence for sentence in _answers()[example] if sentence.startswith(marks)]
    return "absent" if any(claim in _text(sentence) for sentence in marked) else "supported"


@cache
def _answers() -> dict[str, list[str]]:
    return {
        f"{question['id']}-{system}": question[system]["answer"]
        for question in _table("questions")["questions"]
        for system in SYSTEMS
    }


def _text(sentence: str) -> str:
    return sentence.removeprefix(UNSUPPORTED).removeprefix(DOUBTFUL)


@cache
def _table(name: str) -> Mapping[str, Any]:
    file = Path(__file__).with_name(f"demo_{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
