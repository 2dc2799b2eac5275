"""Demo: 30 questions about Cornwall, answered by three systems, one of them in two versions.

The passages are facts of public knowledge in our own words. The faults of the answers are planted,
and each record says in ``meta.planted`` which stage of a pipeline they stand for. ``basic_search``
has a second version, which finds and cites better; its answers are ``demo_records(2)``.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

SYSTEMS = ("local_search", "basic_search", "llm_with_context")
# The system that has a second version.
CHANGED = "basic_search"

# What stands before a sentence of an answer that its contexts do not bear out, or perhaps not.
UNSUPPORTED, DOUBTFUL = "✗ ", "~ "


def demo_records(version: Literal[1, 2] = 1) -> Iterator[dict[str, Any]]:
    """Yield the records of the first version, of all systems, or of the second, of the one changed.

    They are as in a file that ``ragstone evaluate`` reads; turns of a conversation have a history.
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


def _text(sentence: str) -> str:
    return sentence.removeprefix(UNSUPPORTED).removeprefix(DOUBTFUL)


def _table(name: str) -> Mapping[str, Any]:
    file = Path(__file__).with_name(f"demo_{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
