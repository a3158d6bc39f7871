# end: Exit(1)
# says: ExceptionGroup
raise ExceptionGroup("wide", [ValueError(i) for i in range(2000)])
