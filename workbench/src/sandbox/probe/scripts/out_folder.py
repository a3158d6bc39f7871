# probe: a file in /data/out
# look at: kept files
# docker: kept note.txt
with open("/data/out/note.txt", "w") as note:
    note.write("from a probe")
