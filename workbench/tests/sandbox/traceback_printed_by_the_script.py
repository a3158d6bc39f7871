import traceback

try:
    [].pop()
except IndexError:
    print(traceback.format_exc())
