"""What ends, and what is refused, as the official client tells of it."""

import time
import unittest

from anthropic import AuthenticationError, BadRequestError, NotFoundError
from anthropic._exceptions import OverloadedError
from serving import CODE, GET_ORDER, TOOLS, Conversation, Server, calls, results

LATE = "TimeoutError: Calling tool ['get_order'] timed out (no response after 3s)."


class Limits(unittest.TestCase):
    def answered_late(self, turns):
        """Answers the first call when its time is over."""
        with Server(turns, "--pending-seconds", "3") as server:
            conversation = Conversation(server.client())
            conversation.say("Go on.")
            call = calls(conversation.step())[0]
            time.sleep(5)
            conversation.say([conversation.result(call)])
            reply = conversation.step()
            if calls(reply):
                conversation.say([conversation.result(call) for call in calls(reply)])
                conversation.step()
        return results(conversation.replies)[0]

    def test_a_late_answer_is_a_timeout_in_the_code(self):
        result = self.answered_late("late")
        self.assertEqual((result.return_code, result.stdout, result.stderr), (0, "before\n", LATE))
        result = self.answered_late("caught")
        caught = LATE.replace("TimeoutError", "caught")
        self.assertEqual((result.stdout, result.stderr), (f'{caught}\n{{"id": 2, "total": 20}}\n', ""))

    def test_an_idle_container_is_gone(self):
        with Server("names", "--idle-seconds", "5") as server:
            conversation = Conversation(server.client())
            conversation.ask("Go on.")
            time.sleep(8)
            with self.assertRaises(NotFoundError) as refused:
                conversation.ask("And now?")
            self.assertIn(f"Container not found: {conversation.container}", refused.exception.message)
            # The one way on: without it, in a new one.
            conversation.container = None
            reply = conversation.step()
            self.assertIn("NameError: name 'kept' is not defined", results([reply])[0].stderr)

    def test_a_cell_over_its_time_is_ended_and_its_container_goes_on(self):
        with Server("endless", "--cell-seconds", "3") as server:
            conversation = Conversation(server.client())
            self.assertEqual(conversation.ask("Go on.").content[-1].text, "Done.")
            _, ended, after = results(conversation.replies)
            self.assertEqual((ended.return_code, ended.stdout), (124, "until then\n"))
            self.assertIn("detection_timeout", ended.stderr)
            self.assertEqual(after.stdout, "False\n")


INVALID = (BadRequestError, "invalid_request_error")
MISSING = (NotFoundError, "not_found_error")

# What is sent otherwise than a good request has it, the client's class of the refusal and its type, a part of its text.
REFUSED = [
    ({"model": "nobody"}, MISSING, "model: nobody"),
    ({"container": "container_none"}, MISSING, "Container not found: container_none"),
    ({"messages": []}, INVALID, "messages: at least one message is required"),
    ({"stream": True}, INVALID, "stream:"),
    ({"tools": [GET_ORDER]}, INVALID, "no `code_execution` tool was provided"),
    ({"extra_body": {"temperature": 1}}, INVALID, "temperature:"),
    ({"extra_body": {"new": 1}}, INVALID, "new: Extra inputs are not permitted"),
    ({"extra_headers": {"anthropic-version": "2020-01-01"}}, INVALID, "anthropic-version"),
    ({"model": "claude-haiku-4-5"}, INVALID, "'claude-haiku-4-5' does not support programmatic tool calling."),
]


class Refusals(unittest.TestCase):
    def test_what_is_wrong_is_the_error_of_its_class(self):
        with Server("text", "--as", "claude-haiku-4-5") as server:
            client = server.client()
            good = {"model": "turns", "max_tokens": 9, "tools": TOOLS, "messages": [{"role": "user", "content": "Hi."}]}
            for changed, (kind, type_), part in REFUSED:
                with self.subTest(changed):
                    with self.assertRaises(kind) as refused:
                        client.messages.create(**good | changed)
                    body = refused.exception.body
                    self.assertEqual((body["type"], body["error"]["type"]), ("error", type_))
                    self.assertIn(part, body["error"]["message"])
                    self.assertEqual(body["request_id"], refused.exception.request_id)
            with self.assertRaises(AuthenticationError):
                server.client(api_key="sk-other").messages.create(**good)
            with self.assertRaises(NotFoundError):
                client.models.retrieve("nobody")
            with self.assertRaises(BadRequestError):
                client.messages.count_tokens(model="turns", messages=[])
            # With the version that still had them.
            old = {"extra_headers": {"anthropic-version": "2023-06-01"}, "extra_body": {"temperature": 1}}
            self.assertEqual(client.messages.create(**good | old).stop_reason, "end_turn")
            self.assertNotIn("sk-", server.log())

    def test_no_room_is_overloaded(self):
        with Server("order", "--containers", "1") as server:
            first = Conversation(server.client())
            first.say("Go on.")
            call = calls(first.step())[0]
            with self.assertRaises(OverloadedError) as refused:
                Conversation(server.client()).ask("Go on.")
            self.assertEqual(refused.exception.body["error"]["type"], "overloaded_error")
            first.say([first.result(call)])
            first.step()
            # Where no code waits any more, there is room.
            self.assertEqual(Conversation(server.client()).ask("Go on.").content[-1].text, "Ten.")

    def test_pending_calls_need_their_container_their_results_and_nothing_else(self):
        with Server("order") as server:
            conversation = Conversation(server.client())
            conversation.say("Go on.")
            call = calls(conversation.step())[0]
            good = conversation.result(call)
            words = {"type": "text", "text": "By the way."}
            asked = conversation.settings | {"container": conversation.container}
            direct = GET_ORDER | {"allowed_callers": ["direct"]}
            picture = [{"type": "image", "source": {}}]
            for content, changed, part in [
                ([good], {"container": None}, "container_id is required when there are pending tool uses"),
                ([good], {"tools": [direct]}, "but no `code_execution` tool was provided"),
                ([good], {"tools": [CODE]}, "what it may call has changed"),
                ([good, words], {}, "was found without a corresponding `code_execution_tool_result` block"),
                ([words, good], {}, "`tool_use` ids were found without `tool_result` blocks"),
                ([words], {}, "`tool_use` ids were found without `tool_result` blocks"),
                ([good | {"tool_use_id": "toolu_x"}], {}, "unexpected `tool_use_id` found"),
                ([good | {"content": picture}], {}, "text only"),
            ]:
                with self.subTest(part):
                    messages = [*conversation.messages, {"role": "user", "content": content}]
                    with self.assertRaises(BadRequestError) as refused:
                        server.client().messages.create(messages=messages, **asked | changed)
                    self.assertIn(part, refused.exception.message)
            # None of it has done the cell any harm.
            conversation.say([good])
            self.assertEqual(conversation.step().content[-1].text, "Ten.")
            # Once it is answered, the same results are nobody's any more.
            del conversation.messages[-1]
            with self.assertRaises(BadRequestError) as refused:
                conversation.step()
            self.assertIn(f"no code of this container waits for `{call.id}`", refused.exception.message)


if __name__ == "__main__":
    unittest.main()
