"""The names of other tools' metrics, and how each is answered.

    python benchmarks/peer_names.py FOLDER [--write]

FOLDER holds the unpacked packages of the tools, wheels and npm archives; they are read as text and
neither installed nor imported. ``--write`` puts the names into tests/metrics/peer_names.txt, which
a test reads. Without FOLDER, the names of that file are tried.
"""

import re
import sys
from collections import Counter
from pathlib import Path

from ragstone.core.errors import InputError, UnknownName
from ragstone.metrics import alias_note, parse_metric
from ragstone.metrics.metric_names import UNKNOWN

LIST = Path(__file__).parents[1] / "tests" / "metrics" / "peer_names.txt"

CLASS = r"^class ([A-Z]\w+)"
LISTED = r'^\s+"(\w+)",'
FUNCTION = r"^def ([a-z]\w+)"
METHOD = r"^    def ([a-z]\w+)"
NAME = r'^\s+name: str = (?:field\(default=)?"([^"]+)"'
MEMBER = r'^    [A-Z_]+ = "(\w+)"'
CONSTANT = r"^([A-Z_]+)_(?:PROMPT|PROMPT_TEMPLATE)(?:_STR)?(?:_WITH_\w+)? = "

# The files with each tool's metric names, and the pattern that finds them.
SOURCES = [
    ("Ragas", "ragas/metrics/__init__.py", r'"(\w+)":|' + LISTED),
    ("Ragas", "ragas/metrics/collections/__init__.py", LISTED),
    ("Ragas", "ragas/metrics/**/*.py", NAME),
    ("Ragas", "ragas/metrics/**/_*.py", r"^class (\w+)\(.*Metric"),
    ("DeepEval", "deepeval/metrics/__init__.py", LISTED),
    ("DeepEval", "deepeval/metrics/**/*.py", r"^class (\w+Metric)\b"),
    ("DeepEval", "deepeval/metrics/**/*.py", r'^        return "([A-Z][\w -]+)"$'),
    ("TruLens", "trulens/feedback/llm_provider.py", METHOD),
    ("TruLens", "trulens/feedback/groundtruth.py", METHOD),
    ("TruLens", "trulens/feedback/embeddings.py", METHOD),
    ("TruLens", "trulens/feedback/templates/*.py", r"^class ([A-Z]\w+)\((?!Feedback|str)[A-Z]"),
    ("TruLens", "trulens_eval/feedback/provider/*.py", METHOD),
    ("TruLens", "trulens_eval/feedback/[eg]*.py", METHOD),
    ("Phoenix", "phoenix/evals/metrics/*.py", r"^(?:class|def) ([A-Za-z]\w+)"),
    ("Phoenix", "phoenix/evals/metrics/*.py", r'name="(\w+)"'),
    ("Phoenix", "phoenix/evals/evaluators.py", CLASS),
    ("Phoenix", "phoenix/evals/**/default_templates.py", CONSTANT),
    ("Phoenix", "phoenix/evals/**/*_config.py", r'name="(\w+)"'),
    ("MLflow", "mlflow/genai/scorers/builtin_scorers.py", CLASS),
    ("MLflow", "mlflow/genai/scorers/builtin_scorers.py", NAME),
    ("MLflow", "mlflow/genai/scorers/*/registry.py", r'^    "(\w+)":'),
    ("MLflow", "mlflow/genai/judges/builtin.py", r"^def (\w+)"),
    ("MLflow", "mlflow/metrics/__init__.py", LISTED),
    ("MLflow", "mlflow/metrics/genai/__init__.py", LISTED),
    ("promptfoo", "promptfoo/package/dist/src/*.js", r'^\t"([a-z0-9:-]+)",?$'),
    ("Inspect", "inspect_ai/scorer/__init__.py", LISTED),
    ("LlamaIndex", "llama_index/core/evaluation/__init__.py", r'^    "(\w+Evaluator)",'),
    ("LlamaIndex", "llama_index/core/evaluation/**/*.py", CLASS),
    ("LlamaIndex", "llama_index/core/evaluation/retrieval/metrics.py", r'= "(\w+)"'),
    ("Haystack", "haystack/components/evaluators/*.py", CLASS),
    ("LangChain", "langchain_classic/evaluation/**/*.py", CLASS),
    ("LangChain", "langchain_classic/evaluation/schema.py", MEMBER),
    ("LangChain", "langchain_classic/evaluation/criteria/eval_chain.py", MEMBER),
    ("LangChain", "openevals/**/*.py", CONSTANT),
    ("LangChain", "openevals/**/*.py", FUNCTION),
    ("LangChain", "agentevals/**/*.py", FUNCTION),
    ("Azure", "azure/ai/evaluation/__init__.py", r'^\s+"_?(\w+Evaluator)",'),
    ("Azure", "azure/ai/evaluation/_evaluators/**/*.py", r"^class _?(?!Async)(\w+Evaluator)\b"),
    ("Azure", "promptflow/evals/evaluators/**/*.py", r"^class (\w+Evaluator)\b"),
    ("Opik", "opik/evaluation/metrics/__init__.py", LISTED),
    ("Opik", "opik/evaluation/metrics/**/*.py", NAME),
    ("autoevals", "autoevals/[!ot]*.py", r"^class (\w+)\("),
    ("Continuous Eval", "continuous_eval/metrics/**/*.py", r"^class (\w+)\((?:\w*Metric)\b"),
    ("Continuous Eval", "continuous_eval/metrics/**/*.py", r'^ +"(\w+)": Field\(type=float'),
    ("RAGChecker", "ragchecker/metrics.py", r"^([a-z]\w+) ="),
    ("ranx", "ranx/metrics/__init__.py", r'metric == "([\w-]+)"'),
    ("ir_measures", "ir_measures/measures/*.py", r"^measures.register\((\w+)"),
]

# Matches that are not metrics: bases, types, helpers, parts of prompts.
OTHER = re.compile(
    r"^(_|Base|base_|BuiltIn|Metric[A-Z]|Probabilistic|(Single|Multi)TurnMetric|OpenAI|LLM_)|"
    r"^(create_async|extract|generate|make|retrieve|register|run|clear|requires)_|"
    r"(Classifier|Config|Data|Dataset|Error|Example|Exception|Fields|Generator|Mode|"
    r"Model|Parser|Partial|Reducers?|Result|Retriever|Runner|Source|Space|Template|Type|Wrapper|"
    r"_classification|_extraction|_metrics)$"
)
# The same, by name.
OTHER_NAMES = """
    AggregatedMetric AnswerPattern ClassificationEvaluator ConversationThreadMetric CORRECT
    Criteria CustomMetric DiscreteMetric EvaluationMetric Evaluator GEvalPreset INCORRECT
    LLMEvalChain LLMEvaluator LLMMetric Legality MapReducer Metric MultiModalRetrieverEvaluator
    NOANSWER NumericMetric PARTIAL PairwiseStringEvaluator ProvenanceData QAGenerateChain
    RankingMetric Reference Refiner SYSTEM SampleScore Score ScoreEdit ScoreReason Scorer
    Semantics SessionLevelScorer StringEvaluator Syntax Target UNCHANGED USER Value ValueToFloat
    Verdict aggregate answer cascade categorical collect_score conversation_types
    create_llm_simulated_user criteria exponential genai grouped linear max metric multi_scorer
    precomputed_scores score score_reducer scorer value_to_float wrapper discrete_metric
    numeric_metric ranking_metric
"""


def names_of(folder: Path) -> dict[str, list[str]]:
    """The names that the packages in a folder have for metrics, by tool."""
    names: dict[str, dict[str, None]] = {}
    for tool, files, pattern in SOURCES:
        for file in sorted(folder.rglob(files)):
            text = file.read_text(encoding="utf-8")
            if tool == "promptfoo":
                lists = re.findall(r"AssertionTypesSchema = z.enum\(\[(.*?)\]\)", text, re.DOTALL)
                text = "".join(lists)
            for match in re.finditer(pattern, text, re.MULTILINE):
                name = next(filter(None, match.groups()))
                if not OTHER.search(name) and name not in OTHER_NAMES.split():
                    names.setdefault(tool, {})[name] = None
    return {tool: sorted(each, key=str.lower) for tool, each in names.items()}


def read_names() -> dict[str, list[str]]:
    """The names in the list, by tool."""
    names: dict[str, list[str]] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            tool = line[2:]
        elif line:
            names.setdefault(tool, []).append(line)
    return names


def answer(name: str) -> str:
    """How a name is answered: by a metric, an alias, a sentence, a guess, or not at all."""
    try:
        parse_metric(name)
    except UnknownName as error:
        if "Did you mean" in str(error):
            return "guess"
        return "nothing" if UNKNOWN in str(error) else "sentence"
    except InputError:  # It is a metric that needs a parameter.
        return "metric"
    return "alias" if alias_note(name) else "metric"


def main(arguments: list[str]) -> None:
    """Print a row a tool, and the names that are only guessed or not answered."""
    folders = [Path(argument) for argument in arguments if argument != "--write"]
    names = names_of(folders[0]) if folders else read_names()
    if "--write" in arguments:
        sections = ("\n".join([f"# {tool}", *each]) for tool, each in names.items())
        LIST.write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    columns = ("metric", "alias", "sentence", "guess", "nothing")
    print("tool", "names", *columns, sep="\t")
    total = Counter[str]()
    for tool, each in names.items():
        answers = Counter(map(answer, each))
        total += answers
        print(tool, len(each), *(answers[column] for column in columns), sep="\t")
    print("all", total.total(), *(total[column] for column in columns), sep="\t")
    for tool, each in names.items():
        left = [name for name in each if answer(name) in ("guess", "nothing")]
        print(f"\n{tool}: {', '.join(left)}" if left else "", end="")
    print()


if __name__ == "__main__":
    main(sys.argv[1:])
