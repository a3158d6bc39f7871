"""The server under test, which is the built program, and conversations with it by the official client."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path

from anthropic import Anthropic
from anthropic.types import Message

PROGRAM = os.environ["WORKBENCH_PROGRAM"]
TURNS = Path(__file__).parent / "turns"
KEY = "sk-of-the-suite"

CODE = {"type": "code_execution_20260120", "name": "code_execution"}
GET_ORDER = {
    "name": "get_order",
    "description": 'One order, as JSON text {"id": int, "total": int}.',
    "input_schema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    "allowed_callers": ["code_execution_20260120"],
}
NOTE = {
    "name": "note",
    "description": "Notes a text.",
    "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
TOOLS = [CODE, GET_ORDER, NOTE]


class Server:
    """`workbench serve` with the turns of a file, or with who else is to speak, as long as the block."""

    def __init__(self, turns, *options, speaker=None):
        self.log_file = tempfile.TemporaryFile("w+")
        speaker = speaker or ["--turns", TURNS / f"{turns}.json"]
        command = [PROGRAM, "serve", *speaker, "--listen", "127.0.0.1:0", "--token", KEY]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=self.log_file, text=True)
        self.url = self.process.stdout.readline().strip()
        assert self.url, self.log()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        # Whatever waits in it, it ends.
        assert self.process.wait(120) == 130, self.log()
        self.process.stdout.close()
        self.log_file.close()

    def log(self):
        self.log_file.seek(0)
        return self.log_file.read()

    def client(self, **settings):
        return Anthropic(**{"base_url": self.url, "api_key": KEY, "max_retries": 0, "timeout": 240} | settings)


def answer(name, arguments):
    """What the tools of the suite answer."""
    if name == "note":
        return "noted"
    return f'{{"id": {arguments["id"]}, "total": {arguments["id"] * 10}}}'


class Conversation:
    """Holds a conversation as the documentation of the API tells to."""

    def __init__(self, client, answer=answer, **settings):
        self.client = client
        self.answer = answer
        self.settings = {"model": "turns", "max_tokens": 1000, "tools": TOOLS} | settings
        self.messages = []
        self.container = None
        self.replies = []

    def ask(self, text):
        """Says something and sees the turn through; gives back the last reply."""
        self.say([{"type": "text", "text": text}])
        while (reply := self.step()).stop_reason in ("tool_use", "pause_turn"):
            if reply.stop_reason == "tool_use":
                self.say([self.result(call) for call in calls(reply)])
        return reply

    def say(self, content):
        self.messages.append({"role": "user", "content": content})

    def step(self):
        """Asks for the next reply, and appends it."""
        sent = {"container": self.container} if self.container else {}
        reply = self.client.messages.create(messages=self.messages, **sent, **self.settings)
        # The client builds its objects without a look; this takes one.
        Message.model_validate(reply.to_dict())
        self.container = reply.container.id if reply.container else self.container
        self.messages.append({"role": "assistant", "content": reply.content})
        self.replies.append(reply)
        return reply

    def result(self, call):
        text = self.answer(call.name, call.input)
        failed = {"is_error": True} if text.startswith("Error") else {}
        return {"type": "tool_result", "tool_use_id": call.id, "content": text} | failed


def calls(reply):
    return [block for block in reply.content if block.type == "tool_use"]


def results(replies):
    """What the cells came to, as far as replies tell."""
    blocks = [block for reply in replies for block in reply.content]
    return [block.content for block in blocks if block.type == "code_execution_tool_result"]


def shape(reply):
    """A reply in a line: why it stopped, and its blocks."""
    letters = {"text": "t", "server_tool_use": "s", "code_execution_tool_result": "r"}
    made = {"direct": "d", "code_execution_20260120": "c"}
    blocks = [letters.get(block.type) or made[block.caller.type] for block in reply.content]
    # A hundred calls are no hundred letters.
    text = "".join(blocks)
    return f"{reply.stop_reason} {text if len(text) < 20 else f'{text[:2]}*{len(text)}'}"
