"""Colours: none. The standard library's own imports more than all that uses it."""

COLORIZE = False


class _Section:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return ""


class _Theme:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Section()


ANSIColors = _Section()


def can_colorize(*, file=None):
    return False


def get_colors(colorize=False, *, file=None):
    return ANSIColors


def get_theme(**settings):
    return _Theme()


def decolor(text):
    return text
