package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.checksum.Digests;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The signed requests that the Amazon S3 API Reference prints, byte for byte. */
class AmazonExamplesTest {
  private static final String CREDENTIAL =
      "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request";
  private static final String EMPTY = Digests.SHA256_OF_NOTHING;

  @SuppressWarnings("NullAway.Init")
  private AuthServer server;

  @BeforeEach
  void start() throws Exception {
    server = new AuthServer();
  }

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  private String authorization(String signedHeaders, String signature) {
    return "x-amz-date: 20130524T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 "
        + CREDENTIAL
        + ",SignedHeaders="
        + signedHeaders
        + ",Signature="
        + signature
        + "\r\n";
  }

  private String getObject(String signature) {
    return "GET /test.txt HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\n"
        + "Range: bytes=0-9\r\nx-amz-content-sha256: "
        + EMPTY
        + "\r\n"
        + authorization("host;range;x-amz-content-sha256;x-amz-date", signature)
        + "\r\n";
  }

  @Test
  void getObject() throws Exception {
    String right = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
    server.accepts(getObject(right), "");
    server.refuses(getObject(right.replace('f', 'e')), "SignatureDoesNotMatch");
  }

  @Test
  void putObject() throws Exception {
    String request =
        "PUT /test$file.text HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\n"
            + "Date: Fri, 24 May 2013 00:00:00 GMT\r\nx-amz-storage-class: REDUCED_REDUNDANCY\r\n"
            + "Content-Length: 21\r\nx-amz-content-sha256:"
            + " 44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072\r\n"
            + authorization(
                "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
            + "\r\n";
    server.accepts(request + "Welcome to Amazon S3.", "Welcome to Amazon S3.");
    server.refuses(request + "Welcome to Amazon S4.", "XAmzContentSHA256Mismatch");
  }

  @Test
  void getBucketLifecycle() throws Exception {
    server.accepts(
        "GET /?lifecycle HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\nx-amz-content-sha256: "
            + EMPTY
            + "\r\n"
            + authorization(
                "host;x-amz-content-sha256;x-amz-date",
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
            + "\r\n",
        "");
  }

  @Test
  void listObjects() throws Exception {
    server.accepts(
        "GET /?max-keys=2&prefix=J HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\n"
            + "x-amz-content-sha256: "
            + EMPTY
            + "\r\n"
            + authorization(
                "host;x-amz-content-sha256;x-amz-date",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
            + "\r\n",
        "");
  }

  @Test
  void presignedUrl() throws Exception {
    String request =
        "GET /test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE"
            + "%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z"
            + "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
            + "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404 HTTP/1.1\r\n"
            + "Host: examplebucket.s3.amazonaws.com\r\n\r\n";
    server.accepts(request, "");
    server.refuses(request.replace("86400", "86399"), "SignatureDoesNotMatch");
  }

  @Test
  void signedChunks() throws Exception {
    String head =
        "PUT /examplebucket/chunkObject.txt HTTP/1.1\r\nHost: s3.amazonaws.com\r\n"
            + "x-amz-storage-class: REDUCED_REDUNDANCY\r\nContent-Encoding: aws-chunked\r\n"
            + "x-amz-decoded-content-length: 66560\r\nContent-Length: 66824\r\n"
            + "x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\n"
            + authorization(
                "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;"
                    + "x-amz-decoded-content-length;x-amz-storage-class",
                "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9")
            + "\r\n";
    String body =
        "10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n"
            + "a".repeat(65536)
            + "\r\n"
            + "400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n"
            + "a".repeat(1024)
            + "\r\n"
            + "0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n";
    server.accepts(head + body, "a".repeat(66560));
    server.refuses(head + body.replace("aaaa\r\n0;", "aaab\r\n0;"), "SignatureDoesNotMatch");
  }

  @Test
  void signedChunksAndTrailer() throws Exception {
    String body =
        "10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n"
            + "a".repeat(65536)
            + "\r\n"
            + "400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n"
            + "a".repeat(1024)
            + "\r\n"
            + "0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n"
            + "x-amz-checksum-crc32c:sOO8/Q==\r\n"
            + "x-amz-trailer-signature:"
            + "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n";
    String head =
        "PUT /examplebucket/chunkObject.txt HTTP/1.1\r\nHost: s3.amazonaws.com\r\n"
            + "x-amz-storage-class: REDUCED_REDUNDANCY\r\nContent-Encoding: aws-chunked\r\n"
            + "x-amz-decoded-content-length: 66560\r\nx-amz-trailer: x-amz-checksum-crc32c\r\n"
            + "x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER\r\nContent-Length: "
            + body.length()
            + "\r\n"
            + authorization(
                "content-encoding;host;x-amz-content-sha256;x-amz-date;"
                    + "x-amz-decoded-content-length;x-amz-storage-class;x-amz-trailer",
                "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e")
            + "\r\n";
    server.accepts(head + body, "a".repeat(66560));
    server.refuses(head + body.replace("sOO8", "sOO9"), "SignatureDoesNotMatch");
  }
}
