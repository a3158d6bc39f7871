# probe: an API, by the address of `--url`
# needs: url
# docker none: refused
# docker open: answered 200
# embedded: refused
def fetch():
    import urllib.request

    return urllib.request.urlopen(URL, timeout=10).status


try:
    print("answered", fetch())
except Exception:
    attempt(fetch)
