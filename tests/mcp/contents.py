"""What the tools of conformance.c answer, as it is on the wire."""
import base64

PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSu"
       "QmCC")
WAV = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="
STRUCTURE = {"degrees": 22.5, "sky": "clear"}


def text(said):
    return {"type": "text", "text": said}


def resource(**members):
    return {"type": "resource", "resource": members}


IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}

# The whole result of each, with these arguments.
RESULTS = {
    "echo": ({"message": "Grüße, 世界 😀 \u2028 \" \\ \n"},
             {"content": [text("Grüße, 世界 😀 \u2028 \" \\ \n")]}),
    "test_simple_text": ({}, {"content": [text("This is a simple text response for testing.")]}),
    "test_image_content": ({}, {"content": [IMAGE]}),
    "test_audio_content": ({}, {"content": [{"type": "audio", "data": WAV,
                                             "mimeType": "audio/wav"}]}),
    "test_embedded_resource": ({}, {"content": [
        resource(uri="test://embedded-resource", mimeType="text/plain",
                 text="This is an embedded resource content.")]}),
    "test_embedded_blob": ({}, {"content": [
        resource(uri="test://embedded-blob", mimeType="application/octet-stream",
                 blob=base64.b64encode(b"\0\1\2\377").decode())]}),
    "test_resource_link": ({}, {"content": [
        {"type": "resource_link", "uri": "https://example.org/page", "name": "a page",
         "mimeType": "text/html"}]}),
    "test_multiple_content_types": ({}, {"content": [
        text("Multiple content types test:"), IMAGE,
        resource(uri="test://mixed-content-resource", mimeType="application/json",
                 text='{"test":"data","value":123}')]}),
    "test_structured_content": ({}, {"content": [text('{"degrees":22.5,"sky":"clear"}')],
                                     "structuredContent": STRUCTURE}),
    "test_header_parameter": ({"region": "São Paulo"}, {"content": [text("In São Paulo.")]}),
    "test_error_handling": ({}, {
        "content": [text("Execution failed: This tool intentionally returns an error for "
                         "testing")],
        "isError": True}),
}
