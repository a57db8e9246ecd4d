package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.Command;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests between whose decision and whose command another request comes. */
class RacedRequestsTest {
  private static final String VERSION_ID = "x-amz-version-id";
  private static final String ALL_USERS = "http://acs.amazonaws.com/groups/global/AllUsers";

  private final TestS3 s3 = new TestS3("us-east-1", this::raced);
  private String raced = "";
  private List<TestRequest> others = List.of();

  /** What happens before a call. */
  private interface Before {
    /**
     * @param call the kind of command, or the method's name
     */
    void call(String call) throws Exception;
  }

  private static MetadataClient preceded(MetadataClient metadata, Before before) {
    return (MetadataClient)
        Proxy.newProxyInstance(
            RacedRequestsTest.class.getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            (proxy, method, arguments) -> {
              before.call(
                  method.getName().equals("submit")
                          && arguments[0] instanceof Command.Builder command
                      ? command.getKindCase().name()
                      : method.getName());
              try {
                return method.invoke(metadata, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private MetadataClient raced(MetadataClient metadata) {
    return preceded(
        metadata,
        call -> {
          if (call.equals(raced)) {
            raced = "";
            for (TestRequest other : others) {
              assertTrue(s3.send(other).status() < 300, "the other request");
            }
          }
        });
  }

  /** The other request comes before the next command of this kind. */
  private void race(Command.KindCase kind, TestRequest request) {
    raced = kind.name();
    others = List.of(request);
  }

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  private void enableVersioning() throws Exception {
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?versioning")
            .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"));
  }

  private String put(String key, String body) throws Exception {
    return s3.ok(200, TestS3.request("PUT", "/bkt/" + key).body(body)).header(VERSION_ID);
  }

  private boolean isPublic(String uri) throws Exception {
    return s3.ok(200, "GET", uri).text().contains(ALL_USERS);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anAclIsPutToTheObjectThatIsPresent(boolean isVersioned) throws Exception {
    if (isVersioned) {
      enableVersioning();
    }
    String before = put("k", "before");
    race(Command.KindCase.SET_OBJECT_FACTS, TestS3.request("PUT", "/bkt/k").body("after"));
    s3.ok(200, TestS3.request("PUT", "/bkt/k?acl").header("x-amz-acl", "public-read"));
    assertEquals("after", s3.ok(200, "GET", "/bkt/k").text());
    assertTrue(isPublic("/bkt/k?acl"));
    if (isVersioned) {
      assertFalse(isPublic("/bkt/k?acl&versionId=" + before));
    }
  }

  @Test
  void anAclOfAVersionThatIsDeletedMeanwhileIsNoSuchVersion() throws Exception {
    enableVersioning();
    String id = put("k", "data");
    race(Command.KindCase.SET_OBJECT_FACTS, TestS3.request("DELETE", "/bkt/k?versionId=" + id));
    s3.refused(
        "NoSuchVersion",
        TestS3.request("PUT", "/bkt/k?acl&versionId=" + id).header("x-amz-acl", "public-read"));
  }

  /** Whether or not the key has another version then. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCopiedVersionThatIsDeletedMeanwhileIsNoSuchVersion(boolean isOnly) throws Exception {
    enableVersioning();
    String id = put("k", "one");
    if (!isOnly) {
      assertNotEquals(id, put("k", "two"));
    }
    TestRequest delete = TestS3.request("DELETE", "/bkt/k?versionId=" + id);
    race(Command.KindCase.COPY_OBJECT, delete);
    s3.refused(
        "NoSuchVersion",
        TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "bkt/k?versionId=" + id));
    s3.refused("NoSuchKey", "GET", "/bkt/copy");
  }

  @Test
  void aCopiedObjectThatIsDeletedMeanwhileIsNoSuchKey() throws Exception {
    put("k", "one");
    race(Command.KindCase.COPY_OBJECT, TestS3.request("DELETE", "/bkt/k"));
    s3.refused(
        "NoSuchKey", TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "bkt/k"));
  }

  @Test
  void aPublicPolicyIsNotPutOnceSuchPoliciesAreBlocked() throws Exception {
    race(
        Command.KindCase.PUT_BUCKET_DOCUMENT,
        TestS3.request("PUT", "/bkt?publicAccessBlock")
            .body(
                "<PublicAccessBlockConfiguration><BlockPublicPolicy>true</BlockPublicPolicy>"
                    + "</PublicAccessBlockConfiguration>"));
    s3.refused(
        "AccessDenied",
        TestS3.request("PUT", "/bkt?policy")
            .body(
                """
                {"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",
                "Action":"s3:GetObject","Resource":"arn:aws:s3:::bkt/*"}]}"""));
    s3.refused("NoSuchBucketPolicy", "GET", "/bkt?policy");
  }

  @Test
  void anAclIsNotPutOnceTheOwnerOfTheBucketOwnsEverything() throws Exception {
    race(
        Command.KindCase.PUT_BUCKET_DOCUMENT,
        TestS3.request("PUT", "/bkt?ownershipControls")
            .body(
                "<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership>"
                    + "</Rule></OwnershipControls>"));
    s3.refused(
        "AccessControlListNotSupported",
        TestS3.request("PUT", "/bkt?acl").header("x-amz-acl", "public-read"));
  }

  @Test
  void aBucketThatSomebodyElseHasCreatedMeanwhileStays() throws Exception {
    raced = "bucket";
    others =
        List.of(
            TestS3.request("DELETE", "/new"),
            TestS3.request("PUT", "/new").header("x-test-owner", "b".repeat(64)));
    s3.ok(200, TestS3.request("PUT", "/new").header("x-amz-bucket-object-lock-enabled", "true"));
    s3.ok(200, TestS3.request("HEAD", "/new").header("x-test-owner", "b".repeat(64)));
  }

  /** All of them decide before any of them is submitted. */
  @Test
  void manyChangesOfOneBucketAtOnceAllSucceed() throws Exception {
    int requests = 50;
    CyclicBarrier decided = new CyclicBarrier(requests);
    AtomicInteger changes = new AtomicInteger();
    Before inTurn =
        call -> {
          if (call.equals(Command.KindCase.PUT_BUCKET_DOCUMENT.name())) {
            if (changes.incrementAndGet() <= requests) {
              decided.await();
            }
            Thread.sleep(1); // others decide again meanwhile
          }
        };
    TestS3 many = new TestS3("us-east-1", metadata -> preceded(metadata, inTurn));
    many.ok(200, "PUT", "/bkt");
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<TestAnswer>> answers = new ArrayList<>();
      for (int i = 0; i < requests; i++) {
        TestRequest put = TestS3.request("PUT", "/bkt?acl").header("x-amz-acl", "public-read");
        answers.add(threads.submit(() -> many.send(put)));
      }
      for (Future<TestAnswer> answer : answers) {
        assertEquals("200", answer.get().status() + answer.get().code());
      }
    }
  }
}
