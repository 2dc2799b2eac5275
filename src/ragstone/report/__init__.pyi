from .console import picture as picture
from .console import show as show
from .console import terminal as terminal
from .pages import catalogue_page as catalogue  # noqa: F401
from .pages.example_page import example_page as example_page
from .pages.example_page import worst_page as worst_page
from .pages.full_run_page import full_page as full_page
from .pages.runs_page import run_page as run_page
from .run_contents import as_bytes as as_bytes
from .run_contents import dossier as dossier
from .run_contents import export_table as export_table
from .run_contents import format_of as format_of
from .run_contents import write_table as write_table
from .worst_examples import ranked as ranked
from .worst_examples import worst as worst
