"""Appends to and patches of objects with botocore; see docs/reference/s3-changes.md.

The first door is plain boto3: s3.put_object(..., WriteOffsetBytes=size). The other two are requests
that boto3 does not have, signed with botocore.
"""

from urllib.parse import quote

import botocore.session
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.httpsession import URLLib3Session


class Changes:
    def __init__(self, endpoint, region="us-east-1"):
        self.endpoint = endpoint.rstrip("/")
        self.region = region
        self.credentials = botocore.session.get_session().get_credentials()
        self.http = URLLib3Session()

    def patch(self, bucket, key, offset, data, **headers):
        """Overwrites the bytes from offset on; what runs past the end is appended."""
        headers["Content-Range"] = f"bytes {offset}-{offset + len(data) - 1}/*"
        return self.send("PATCH", f"/{bucket}/{quote(key)}", data, headers)

    def append(self, bucket, key, position, data, **headers):
        """Appends as radosgw does; the answer's x-rgw-next-append-position is the next position."""
        return self.send("POST", f"/{bucket}/{quote(key)}?append&position={position}", data, headers)

    def send(self, method, path, data, headers):
        request = AWSRequest(method=method, url=self.endpoint + path, data=data, headers=headers)
        S3SigV4Auth(self.credentials, "s3", self.region).add_auth(request)
        return self.http.send(request.prepare())

    def presigned(self, method, path, headers, seconds=300):
        """A URL for whoever sends exactly these headers with it."""
        request = AWSRequest(method=method, url=self.endpoint + path, headers=headers)
        S3SigV4QueryAuth(self.credentials, "s3", self.region, expires=seconds).add_auth(request)
        return request.prepare().url
