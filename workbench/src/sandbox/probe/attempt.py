def attempt(*actions):
    """Tries them; the last line that a probe prints is what is looked at."""
    refusals = []
    for action in actions:
        try:
            found = action()
        except Exception as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            refusals += [] if reason in refusals else [reason]
        else:
            print(f"allowed: {found}")
            return
    print("refused:", ", ".join(refusals))
