"""Uploads and reads by a page of another origin. Run by Boto3IT: browser_test.py ENDPOINT BUCKET BROWSER FOLDER."""

import http.server
import json
import subprocess
import sys
import threading
import urllib.parse

import boto3
from botocore.config import Config

ENDPOINT, bucket, BROWSER, FOLDER = sys.argv[1:5]
SIZE = 3_000_000

PAGE = """<!DOCTYPE html><meta charset="utf-8"><body><iframe name="target"></iframe><script>
const given = GIVEN;
const bytes = Uint8Array.from({length: given.size}, (_, i) => i * 31 % 251);

function fill(post) {
  const form = new FormData();
  for (const [name, value] of Object.entries(post.fields)) form.append(name, value);
  form.append("file", new File([bytes], "a b.bin"));
  return form;
}

/** An upload by the browser's own form, into the frame. */
function submit(post) {
  const form = document.createElement("form");
  Object.assign(form, {action: post.url, method: "post", enctype: "multipart/form-data", target: "target"});
  for (const [name, value] of Object.entries(post.fields)) {
    const input = document.createElement("input");
    Object.assign(input, {type: "hidden", name, value});
    form.append(input);
  }
  const file = document.createElement("input");
  const list = new DataTransfer();
  list.items.add(new File([bytes], "c:d \\"e\\".bin"));
  Object.assign(file, {type: "file", name: "file", files: list.files});
  form.append(file);
  document.body.append(form);
  form.submit();
}

async function attempt(url, options) {
  try {
    const answer = await fetch(url, options);
    const content = new Uint8Array(await answer.arrayBuffer());
    return {status: answer.status, etag: answer.headers.get("ETag"), hidden: answer.headers.get("x-amz-version-id"),
            same: content.length === bytes.length && content.every((byte, i) => byte === bytes[i])};
  } catch (error) {
    return {blocked: String(error)};
  }
}

(async () => {
  const found = {};
  found.post = await attempt(given.post.url, {method: "POST", body: fill(given.post)});
  found.get = await attempt(given.get);
  found.error = await attempt(given.get.replace("X-Amz-Signature=", "X-Amz-Signature=0"));
  found.put = await attempt(given.put, {method: "PUT", body: bytes, headers: {"x-amz-meta-color": "blue"}});
  found.remove = await attempt(given.get, {method: "DELETE"});
  found.elsewhere = await attempt(given.elsewhere);
  await fetch("/found", {method: "POST", body: JSON.stringify(found)});
  submit(given.form);
})();
</script></body>"""

s3 = boto3.client(
    "s3",
    endpoint_url=ENDPOINT,
    region_name="us-east-1",
    config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
)
reported, finished = {}, threading.Event()


class Pages(http.server.BaseHTTPRequestHandler):
    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/redirected":
            reported["redirected"] = dict(urllib.parse.parse_qsl(url.query))
            finished.set()
        self.answer(PAGE.replace("GIVEN", json.dumps(given)) if url.path == "/" else "")

    def do_POST(self):
        reported.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer("")

    def log_message(self, *_):
        pass


def presigned_post(key, **fields):
    return s3.generate_presigned_post(bucket, key, dict(fields), [{k: v} for k, v in fields.items()])


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
origin = f"http://127.0.0.1:{server.server_address[1]}"
other = bucket + "-other"
for name in (bucket, other):
    s3.create_bucket(Bucket=name)
rule = {
    "AllowedOrigins": [origin],
    "AllowedMethods": ["GET", "PUT", "POST"],
    "AllowedHeaders": ["x-amz-meta-*"],
    "ExposeHeaders": ["ETag"],
}
s3.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [rule]})
s3.put_object(Bucket=other, Key="k", Body=b"1")
url = s3.generate_presigned_url
given = {
    "size": SIZE,
    "post": presigned_post("fetched", success_action_status="201"),
    "form": presigned_post("${filename}", success_action_redirect=origin + "/redirected"),
    "get": url("get_object", {"Bucket": bucket, "Key": "fetched"}),
    "put": url("put_object", {"Bucket": bucket, "Key": "put", "Metadata": {"color": "blue"}}),
    "elsewhere": url("get_object", {"Bucket": other, "Key": "k"}),
}
threading.Thread(target=server.serve_forever, daemon=True).start()
browser = subprocess.Popen(
    [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={FOLDER}/profile", origin + "/"],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
try:
    assert finished.wait(120), f"the page did not finish: {reported}"
finally:
    browser.terminate()
    browser.wait(30)
    server.shutdown()

expected = bytes(i * 31 % 251 for i in range(SIZE))
etag = s3.head_object(Bucket=bucket, Key="fetched")["ETag"]
assert reported["post"]["status"] == 201 and reported["post"]["etag"] == etag, reported
assert reported["get"] == {"status": 200, "etag": etag, "hidden": None, "same": True}, reported
assert reported["error"]["status"] == 403, reported
assert reported["put"]["status"] == 200, reported
assert "blocked" in reported["remove"] and "blocked" in reported["elsewhere"], reported
assert s3.head_object(Bucket=bucket, Key="put")["Metadata"] == {"color": "blue"}
uploaded = reported["redirected"]
assert uploaded["bucket"] == bucket and uploaded["etag"] == etag, reported
assert s3.get_object(Bucket=bucket, Key=uploaded["key"])["Body"].read() == expected
print("a browser uploaded", uploaded["key"])
