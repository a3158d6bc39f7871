"""Pictures of the made-up catalogue: one small drawing a record, the same every time."""

from .forms import draw_object

__all__ = ["draw_object"]
