"""The application and its registry of commands, each imported on demand."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sapwood._core import __version__

COMMANDS = {
    "learn": "sapwood.cli.learn",
    "predict": "sapwood.cli.predict",
    "inspect": "sapwood.cli.inspect",
    "reproduce": "sapwood.reproduce",
    "bench": "sapwood.cli.bench",
}
"""The module of each command, which has a function ``register(app)``. Modules that are not installed are left out."""


class LazyCommands(TyperGroup):
    """Commands by name, in the order of `COMMANDS`."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name, module in COMMANDS.items() if find_spec(module) is not None]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.list_commands(ctx):
            return None
        holder = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        importlib.import_module(COMMANDS[cmd_name]).register(holder)
        command = typer.main.get_command(holder)
        command.name = cmd_name
        return command


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sapwood {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=LazyCommands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def sapwood(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Bayesian dynamic trees for data streams: forecasts with honest uncertainty, at constant memory."""
