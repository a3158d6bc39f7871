# end: TimedOut
# seconds: 2
# says: KILLED
class Bad(Exception):
    def __str__(self):
        while True:
            pass


raise Bad
