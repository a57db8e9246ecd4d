package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.form.FormBody;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Where the server has TLS, keys of clients do not come over connections without it. */
class SecureKeysTest {
  private final TestS3 s3 =
      new TestS3(
          "us-east-1",
          metadata -> metadata,
          new Encryptions(TestKeys.encryptions().keys(), false, true));

  @BeforeEach
  void storeSomething() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("x"));
  }

  private static List<TestRequest> requests() {
    return List.of(
        TestKeys.withCustomer(TestS3.request("PUT", "/bkt/new"), 1).body("x"),
        TestKeys.withCustomer(TestS3.request("GET", "/bkt/k"), 1),
        TestKeys.withCustomer(TestS3.request("POST", "/bkt/new?uploads"), 1),
        TestKeys.ofSource(
            TestS3.request("PUT", "/bkt/new").header("x-amz-copy-source", "/bkt/k"), 1));
  }

  @Test
  void keysNeedTls() throws Exception {
    for (TestRequest request : requests()) {
      s3.refused("InvalidRequest", request);
    }
    s3.refused("NoSuchKey", "GET", "/bkt/new");
    TestRequest form =
        TestS3.request("POST", "/bkt")
            .form(
                new FormBody()
                    .field("key", "new")
                    .field("x-amz-server-side-encryption-customer-key", "AAAA")
                    .file("a.txt", "x"));
    s3.refused("InvalidRequest", form);
    s3.refused("NoSuchKey", "GET", "/bkt/new");
  }

  @Test
  void othersDoNot() throws Exception {
    s3.ok(200, TestKeys.withMaster(TestS3.request("PUT", "/bkt/new")).body("x"));
    s3.ok(200, TestKeys.withCustomer(TestS3.request("PUT", "/bkt/tls"), 1).body("x").overTls());
    assertNotEquals(
        "InvalidRequest",
        s3.send(TestKeys.withCustomer(TestS3.request("POST", "/bkt/tls?uploads"), 1).overTls())
            .code());
  }
}
