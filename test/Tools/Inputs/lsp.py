"""Opens two documents in a language server and prints what it says of them."""

import json
import subprocess
import sys

BAD = "func.func @f(%w: tensor<4xf32> {es.param = 1 : i32}) { return }\n"
GOOD = """func.func @f(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = es.param %w <trainable "fc"> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""

server = subprocess.Popen(sys.argv[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def send(method, params, number=None):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    body = json.dumps(message).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()


def receive():
    length = 0
    while (line := server.stdout.readline().strip()) != b"":
        key, value = line.split(b":")
        if key == b"Content-Length":
            length = int(value)
    return json.loads(server.stdout.read(length))


def open_document(uri, text):
    send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "mlir", "version": 1, "text": text}})


send("initialize", {"processId": None, "capabilities": {}}, 0)
receive()
open_document("test:///bad.mlir", BAD)
for diagnostic in receive()["params"]["diagnostics"]:
    print(diagnostic["message"])
open_document("test:///good.mlir", GOOD)
receive()
position = {"textDocument": {"uri": "test:///good.mlir"}, "position": {"line": 1, "character": 8}}
send("textDocument/hover", position, 1)
print("hover:", json.dumps(receive()["result"]))
send("shutdown", None, 2)
receive()
send("exit", None)
