"""Labels: what is said of figures that are looked at while people label."""

from collections.abc import Mapping

from .facts import Sentence, count, counted, plain

SENTENCES: Mapping[str, Sentence] = {
    "looked_at_again": lambda facts: (
        "labels are still coming, and this interval is for one look; from "
        f"{count(facts, 'first')} on ({count(facts)} so far) it will hold at every look"
    ),
    "alike_so_far": plain(
        "labels are still coming, and this interval is for one look; it will hold at every look "
        "once more labels differ from the most frequent one"
    ),
    "riskiest_first": plain(
        "the riskiest are labelled first, so until all are labelled this is of them and not of all"
    ),
    "of_the_likelier": plain(
        "some were likelier to be labelled than others, such as those on which the judge is in "
        "doubt, so agreement is of these more than of all"
    ),
    "chances_known_in_part": plain(
        "with which probability it came to be labelled is known of some and not of others"
    ),
    "labelled_not_drawn": plain(
        "what is labelled was chosen, not drawn, so its share says nothing of all"
    ),
    "nothing_labelled": plain("nothing is labelled yet"),
    "all_split": plain("people are split on every one"),
    "labels_of_chosen": lambda facts: (
        f"{facts['queue']}: its examples were chosen ({facts['how']}), not drawn, so a mean over "
        "its labels, or one that they correct, says nothing of all examples."
    ),
    "labels_of_riskiest": lambda facts: (
        f"{facts['queue']}: the riskiest examples are labelled first. Until all are labelled, a "
        "mean over these labels, or one that they correct, says nothing of all examples."
    ),
    "labels_still_coming": lambda facts: (
        f"{facts['queue']}: people have {counted(facts, 'item')} still to label. Intervals are for "
        "one look: who looks again as labels come, and stops when they look good, is misled."
    ),
}
