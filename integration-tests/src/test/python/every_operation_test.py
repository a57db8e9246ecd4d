"""Sends every operation of botocore's S3 model: none changes what it is not meant to change.

Run by EveryOperationIT: every_operation_test.py ENDPOINT. Operations, methods, paths, parameters, headers and
documents come from the model, so that a newer botocore brings its new operations along.
"""

import base64
import datetime
import hashlib
import itertools
import os
import sys
import urllib.parse
import xml.etree.ElementTree

import botocore.session
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.httpsession import URLLib3Session
from botocore.serialize import create_serializer

ENDPOINT = sys.argv[1]
CREDENTIALS = Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
FULL, EMPTY, ABSENT = "operations-full", "operations-empty", "operations-absent"
KEY, NO_KEY, SOURCE = "folder/there", "folder/not there", "source"
BODY = b"what is to stay"
METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE", "PATCH")
REFUSED = (405, 501)

# The operations that change something here. Each is sent, and the objects are made anew afterwards.
CHANGE = {
    "AbortMultipartUpload",
    "CompleteMultipartUpload",
    "CopyObject",
    "CreateBucket",
    "CreateMultipartUpload",
    "DeleteBucket",
    "DeleteBucketCors",
    "DeleteBucketEncryption",
    "DeleteBucketLifecycle",
    "DeleteBucketOwnershipControls",
    "DeleteBucketPolicy",
    "DeleteBucketTagging",
    "DeleteBucketWebsite",
    "DeleteObject",
    "DeleteObjectTagging",
    "DeleteObjects",
    "DeletePublicAccessBlock",
    "PutBucketAcl",
    "PutBucketCors",
    "PutBucketEncryption",
    "PutBucketLifecycle",
    "PutBucketLifecycleConfiguration",
    "PutBucketLogging",
    "PutBucketNotification",
    "PutBucketNotificationConfiguration",
    "PutBucketOwnershipControls",
    "PutBucketPolicy",
    "PutBucketRequestPayment",
    "PutBucketTagging",
    "PutBucketVersioning",
    "PutBucketWebsite",
    "PutObject",
    "PutObjectAcl",
    "PutObjectLegalHold",
    "PutObjectLockConfiguration",
    "PutObjectRetention",
    "PutObjectTagging",
    "PutPublicAccessBlock",
    "RenameObject",
    "UpdateObjectEncryption",
    "UploadPart",
    "UploadPartCopy",
}

# The operations that are answered, with what S3 answers where a feature was never configured.
READ = {
    "GetBucketAccelerateConfiguration",
    "GetBucketAcl",
    "GetBucketCors",
    "GetBucketEncryption",
    "GetBucketLifecycle",
    "GetBucketLifecycleConfiguration",
    "GetBucketLocation",
    "GetBucketLogging",
    "GetBucketNotification",
    "GetBucketNotificationConfiguration",
    "GetBucketOwnershipControls",
    "GetBucketPolicy",
    "GetBucketPolicyStatus",
    "GetBucketReplication",
    "GetBucketRequestPayment",
    "GetBucketTagging",
    "GetBucketVersioning",
    "GetBucketWebsite",
    "GetObject",
    "GetObjectAcl",
    "GetObjectAttributes",
    "GetObjectLegalHold",
    "GetObjectLockConfiguration",
    "GetObjectRetention",
    "GetObjectTagging",
    "GetPublicAccessBlock",
    "HeadBucket",
    "HeadObject",
    "ListBuckets",
    "ListDirectoryBuckets",  # without parameters the same request as ListBuckets
    "ListMultipartUploads",
    "ListObjectVersions",
    "ListObjects",
    "ListObjectsV2",
    "ListParts",
}

model = botocore.session.Session().get_service_model("s3")
serializer = create_serializer("rest-xml", include_validation=False)
http = URLLib3Session(timeout=60)
failures = []
sent = 0


def send(method, path, query="", headers=None, body=b""):
    global sent
    sent += 1
    url = ENDPOINT.rstrip("/") + path + ("?" + query if query else "")
    request = AWSRequest(method=method, url=url, headers=headers or {}, data=body)
    if body:
        request.headers["Content-MD5"] = base64.b64encode(hashlib.md5(body).digest()).decode()
    S3SigV4Auth(CREDENTIALS, "s3", "us-east-1").add_auth(request)
    return http.send(request.prepare())


def path(bucket, key=None):
    return "/" + bucket + ("" if key is None else "/" + urllib.parse.quote(key))


def made(response):
    assert response.status_code in (200, 204), (response.status_code, response.content)


def end_versioning(bucket):
    """Makes the bucket anew: versioning is never switched off again."""
    if b"<Status>" in send("GET", path(bucket), "versioning").content:
        document = xml.etree.ElementTree.fromstring(send("GET", path(bucket), "versions").content)
        for entry in document:
            fields = {field.tag.rpartition("}")[2]: field.text for field in entry}
            if "VersionId" in fields:
                made(send("DELETE", path(bucket, fields["Key"]), "versionId=" + fields["VersionId"]))
        made(send("DELETE", path(bucket)))


def make():
    end_versioning(FULL)
    end_versioning(EMPTY)
    made(send("PUT", path(FULL)))
    made(send("PUT", path(EMPTY)))
    made(send("DELETE", path(FULL), "encryption"))
    headers = {"x-amz-meta-color": "blue", "Content-Type": "text/plain"}
    made(send("PUT", path(FULL, KEY), headers=headers, body=BODY))
    made(send("PUT", path(FULL, SOURCE), body=BODY))
    made(send("DELETE", path(FULL), "tagging"))
    send("DELETE", path(FULL, NO_KEY))
    send("DELETE", path(ABSENT))


def listing(where, query, *elements):
    document = xml.etree.ElementTree.fromstring(send("GET", where, query).content)
    return [[child.text for child in e] for e in document.iter() if e.tag.rpartition("}")[2] in elements]


def state():
    """What must stay: bytes, ETag, headers and metadata, listings, uploads."""
    stored = send("GET", path(FULL, KEY))
    headers = {name.lower(): value for name, value in stored.headers.items()}
    for name in ("date", "x-amz-request-id", "x-amz-id-2"):
        headers.pop(name, None)
    return {
        "bytes": (stored.status_code, stored.content),
        "headers": headers,
        "objects": listing(path(FULL), "list-type=2", "Contents"),
        "uploads": listing(path(FULL), "uploads=", "Upload"),
        "tags": [listing(path(FULL), "tagging", "Tag"), send("GET", path(FULL, KEY), "tagging").content],
        "versions": listing(path(FULL), "versions=", "Version", "DeleteMarker"),
        "versioning": send("GET", path(FULL), "versioning").content,
        "buckets": [bucket for bucket in listing("/", "", "Bucket") if bucket[0] in (FULL, EMPTY, ABSENT)],
    }


def value(shape, name, depth=0):
    """A value of a shape with what the shape requires, and of documents with all they may have at their top."""
    if shape.type_name == "structure":
        wanted = [m for m in shape.members if m in shape.required_members or depth == 1]
        return {member: value(shape.members[member], member, depth + 1) for member in wanted} if depth < 8 else {}
    if shape.type_name == "list":
        return [value(shape.member, name, depth + 1)]
    if shape.type_name == "map":
        return {"k": "v"}
    if shape.type_name == "string":
        names = {"CopySource": f"{FULL}/{SOURCE}", "RenameSource": SOURCE, "RequestRoute": "route"}
        names["MFADelete"] = "Disabled"
        names["Events"] = "s3:ObjectCreated:*"
        return names.get(name) or (shape.enum[0] if shape.enum else "text")
    scalars = {"blob": BODY, "timestamp": datetime.datetime(2030, 1, 1), "boolean": True}
    return scalars.get(shape.type_name, 1)


def serialized(operation, bucket, key):
    shape = operation.input_shape
    parameters = value(shape, "", 0) if shape else {}
    payload = shape.serialization.get("payload") if shape else None
    if payload and operation.name not in CHANGE:
        parameters[payload] = value(shape.members[payload], payload, 1)
    if shape and "Bucket" in shape.members:
        parameters["Bucket"] = bucket
    if shape and "Key" in shape.members:
        parameters["Key"] = key
    if operation.name == "PutBucketNotificationConfiguration":
        parameters["NotificationConfiguration"].pop("EventBridgeConfiguration", None)  # not supported
    request = serializer.serialize_to_request(parameters, operation)
    query = urllib.parse.urlencode(request["query_string"] or {})
    literal, _, more = request["url_path"].partition("?")
    body = request["body"]
    body = body.encode() if isinstance(body, str) else body or b""
    return request["method"], literal, "&".join(filter(None, (more, query))), dict(request["headers"]), body


def unchanged(what, before, status):
    after = state()
    for part, was in before.items():
        if after[part] != was:
            failures.append(f"{what}: {status}, and changed the {part} from {was} to {after[part]}")
            make()
            return state()
    return before


def refused(what, method, where, query, headers, body):
    status = send(method, where, query, headers, body).status_code
    if status not in REFUSED:
        failures.append(f"{what}: {status}, not refused")
    return status


def targets(operation):
    members = operation.input_shape.members if operation.input_shape else {}
    if "Key" in members:
        return [(FULL, KEY), (FULL, NO_KEY)]
    return [(FULL, None), (EMPTY, None), (ABSENT, None)] if "Bucket" in members else [(FULL, None)]


def test_every_operation():
    """Each as the model says, and each with a body that is no document of S3."""
    before = state()
    for name in model.operation_names:
        operation = model.operation_model(name)
        for bucket, key in targets(operation):
            method, where, query, headers, body = serialized(operation, bucket, key)
            what = f"{name}: {method} {where}?{query}"
            if name not in CHANGE | READ:
                bodies = (body, b"other bytes") if body else (body,)
                status = [refused(what, method, where, query, headers, content) for content in bodies]
                before = unchanged(what, before, status)
                continue
            status = send(method, where, query, headers, body).status_code
            if status in REFUSED:
                failures.append(f"{what}: {status}, but it works")
            if name in READ:
                before = unchanged(what, before, status)
            else:
                make()
                before = state()


def subresources():
    """The parameters that tell operations apart, each with the methods and scopes that have one."""
    known = {}
    for name in model.operation_names:
        operation = model.operation_model(name)
        literal = operation.http["requestUri"].partition("?")[2]
        members = operation.input_shape.members if operation.input_shape else {}
        scope = "Key" if "Key" in members else "Bucket"
        for parameter in filter(None, literal.split("&")):
            known.setdefault(parameter.partition("=")[0], set()).add((operation.http["method"], scope))
    return known


def test_subresources_elsewhere():
    """Each where S3 has no such operation: never the plain operation."""
    before = state()
    places = (("Key", FULL, KEY), ("Key", FULL, NO_KEY), ("Bucket", EMPTY, None), ("Bucket", ABSENT, None))
    for (name, there), method in itertools.product(subresources().items(), METHODS):
        for scope, bucket, key in places:
            if (method, scope) not in there:
                body = BODY if method in ("PUT", "PATCH") and key else b""
                headers = {"Content-Range": "bytes 0-*/*"} if method == "PATCH" else {}
                where = path(bucket, key)
                refused(f"{method} {where}?{name}", method, where, name + "=", headers, body)
        before = unchanged(f"{method} with {name}", before, "")


def test_spellings():
    """Each in other cases, escaped, beside another parameter and twice."""
    before = state()
    for name in subresources():
        escaped = "%{:02X}".format(ord(name[0])) + name[1:]
        queries = (name.upper() + "=", name.capitalize(), escaped + "=", f"x=1&{name}", f"{name}&{name}=2")
        for method, query in itertools.product(("PUT", "DELETE"), queries):
            send(method, path(FULL, KEY), query, {}, b"other bytes" if method == "PUT" else b"")
        before = unchanged(f"{name} in {queries}", before, "")


def main():
    make()
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    unknown = (CHANGE | READ) - set(model.operation_names)
    assert not unknown, f"not in the model: {unknown}"
    for name, test in tests:
        print(name, flush=True)
        test()
    made(send("DELETE", path(EMPTY)))
    for key in (KEY, SOURCE):
        made(send("DELETE", path(FULL, key)))
    made(send("DELETE", path(FULL)))
    print(f"{len(model.operation_names)} operations, {sent} requests, {len(failures)} failures")
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


main()
