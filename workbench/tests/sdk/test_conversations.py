"""Whole conversations: where code pauses, what comes back, what is kept."""

import unittest
from concurrent.futures import ThreadPoolExecutor

from serving import CODE, GET_ORDER, KEY, NOTE, Conversation, Server, calls, results, shape

# Turns of the model, the replies of one question (t: words, s: a cell, c: a call of code, d: one of the model's own,
# r: a cell's result), and what the cells print.
CONVERSATIONS = [
    ("order", ["tool_use tsc", "end_turn rt"], ["10\n"]),
    ("gather", ["tool_use sc*101", "end_turn rt"], ["49500\n"]),
    (
        "sequence",
        ["tool_use sc", "tool_use c", "tool_use c", "end_turn rt"],
        ['{"id": 0, "total": 0}\n{"id": 1, "total": 10}\n{"id": 2, "total": 20}\n'],
    ),
    ("mixed", ["tool_use tsdc", "end_turn rt"], ['{"id": 3, "total": 30}\n']),
    ("mixed_at_once", ["tool_use sdr", "end_turn t"], ["no call\n"]),
    ("direct", ["tool_use dd", "end_turn t"], []),
    ("cells", ["tool_use sssc", "tool_use rrc", "end_turn rt"], ["one\n", "two\n", "True\n"]),
    ("paused", ["pause_turn sr*20", "end_turn srsrt"], [f"{n}\n" for n in range(12)]),
    ("put_off", ["pause_turn sr", "tool_use sc", "end_turn rt"], ["first\n", '{"id": 1, "total": 10}\n']),
    ("text", ["end_turn t"], []),
]


class Conversations(unittest.TestCase):
    def test_every_conversation_has_its_replies(self):
        for turns, shapes, printed in CONVERSATIONS:
            with self.subTest(turns), Server(turns) as server:
                conversation = Conversation(server.client())
                conversation.ask("Go on.")
                self.assertEqual([shape(reply) for reply in conversation.replies], shapes)
                ends = [(cell.return_code, cell.stdout, cell.stderr) for cell in results(conversation.replies)]
                self.assertEqual(ends, [(0, text, "") for text in printed])

    def test_both_versions_and_both_ways_to_send_the_key_serve(self):
        with Server("order") as server:
            for version in ["2023-06-01", "2026-10-21"]:
                for settings in [{}, {"api_key": "sk-other", "default_headers": {"x-api-key": KEY}}]:
                    headers = settings.pop("default_headers", {}) | {"anthropic-version": version}
                    with self.subTest(version=version, settings=settings):
                        conversation = Conversation(server.client(default_headers=headers, **settings))
                        self.assertEqual(conversation.ask("Go on.").content[-1].text, "Ten.")

    def test_calls_name_their_cell_and_nothing_else(self):
        with Server("mixed") as server:
            conversation = Conversation(server.client())
            conversation.ask("Go on.")
            _, cell, direct, call = conversation.replies[0].content
            self.assertEqual((cell.caller.type, direct.caller.type), ("direct", "direct"))
            self.assertEqual((call.caller.type, call.caller.tool_id), ("code_execution_20260120", cell.id))
            self.assertEqual((call.name, call.input, direct.input), ("get_order", {"id": 3}, {"text": "x"}))
            self.assertEqual(conversation.replies[1].content[0].tool_use_id, cell.id)
            usage = [reply.usage for reply in conversation.replies]
            self.assertTrue(all(one.input_tokens > 0 and one.output_tokens > 0 for one in usage), usage)
            self.assertEqual(usage[1].to_dict()["server_tool_use"]["code_execution_requests"], 1)
            # Its types have these as numbers.
            self.assertEqual((usage[1].server_tool_use.web_search_requests, usage[0].server_tool_use), (0, None))

    def test_names_are_kept_with_the_container_and_only_there(self):
        with Server("names") as server:
            conversation = Conversation(server.client())
            conversation.ask("Go on.")
            first = conversation.container
            self.assertEqual(conversation.ask("And now?").content[-1].text, "Second.")
            self.assertEqual(conversation.container, first)
            self.assertEqual(results(conversation.replies)[-1].stdout, "[10, 20]\n")
            other = Conversation(server.client())
            other.ask("Go on.")
            other.container = None
            other.ask("And now?")
            self.assertIn("NameError: name 'kept' is not defined", results(other.replies)[-1].stderr)
            self.assertEqual(results(other.replies)[-1].return_code, 1)

    def test_a_failure_of_a_tool_is_a_text_in_the_code(self):
        with Server("failures") as server:
            conversation = Conversation(server.client(), answer=lambda *_: "Error: no such order")
            conversation.ask("Go on.")
            first, second = results(conversation.replies)
            self.assertEqual((first.return_code, first.stdout), (1, "'Error: no such order'\n"))
            self.assertTrue(first.stderr.endswith("ValueError: mine\n"), first.stderr)
            self.assertEqual((second.return_code, second.stdout, second.stderr), (3, "out\n", "err\n"))

    def test_why_a_model_stops_is_told(self):
        with Server("stops") as server:
            conversation = Conversation(server.client())
            stops = [(conversation.ask("Go on."), conversation.replies[-1])[1] for _ in range(3)]
            self.assertEqual([reply.stop_reason for reply in stops], ["refusal", "max_tokens", "end_turn"])

    def test_a_result_of_blocks_is_their_text(self):
        with Server("order") as server:
            conversation = Conversation(server.client())
            conversation.say("Go on.")
            call = calls(conversation.step())[0]
            blocks = [{"type": "text", "text": text} for text in ('{"id": 1,', ' "total": 7}')]
            conversation.say([{"type": "tool_result", "tool_use_id": call.id, "content": blocks}])
            conversation.step()
            self.assertEqual(results(conversation.replies)[0].stdout, "7\n")

    def test_fifty_sessions_at_once_do_not_meet(self):
        def session(number):
            conversation = Conversation(client, answer=lambda _, asked: f'{{"total": {number * 1000 + asked["id"]}}}')
            conversation.ask("Go on.")
            conversation.ask("And now?")
            return conversation.container, results(conversation.replies)[-1].stdout

        with Server("names") as server, ThreadPoolExecutor(50) as pool:
            client = server.client(max_retries=2)
            sessions = list(pool.map(session, range(50)))
        expected = [f"[{number * 1000 + 1}, {number * 1000 + 2}]\n" for number in range(50)]
        self.assertEqual([printed for _, printed in sessions], expected)
        self.assertEqual(len({container for container, _ in sessions}), 50)


class Beside(unittest.TestCase):
    def test_models_are_described(self):
        with Server("text", "--as", "claude-haiku-5-5", "--as", "claude-haiku-4-5") as server:
            client = server.client()
            models = {model.id: model for model in client.models.list()}
            self.assertEqual(list(models), ["turns", "claude-haiku-5-5", "claude-haiku-4-5"])
            for name, programmatic in [("turns", True), ("claude-haiku-5-5", True), ("claude-haiku-4-5", False)]:
                model = client.models.retrieve(name)
                self.assertEqual(model, models[name])
                self.assertEqual(model.capabilities.code_execution.supported, programmatic)
                self.assertTrue(model.to_dict()["capabilities"]["server_tools"]["code_execution"]["supported"])

    def test_tokens_are_counted_as_they_are_read(self):
        with Server("text") as server:
            client = server.client()
            asked = {"model": "turns", "messages": [{"role": "user", "content": "How many are these?"}]}
            lists = [[], [NOTE], [CODE, GET_ORDER, NOTE]]
            counted = [client.messages.count_tokens(**asked, tools=tools).input_tokens for tools in lists]
            self.assertEqual(counted, sorted(set(counted)))
            read = client.messages.create(**asked, tools=lists[-1], max_tokens=9).usage.input_tokens
            self.assertEqual(counted[-1], read)


if __name__ == "__main__":
    unittest.main()
