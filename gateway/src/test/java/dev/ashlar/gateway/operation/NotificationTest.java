package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.notification.EventName;
import dev.ashlar.protocol.message.EventRow;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Notification configurations, and the events that requests leave in the outbox. */
class NotificationTest {
  private static final String ARN = "arn:ashlar:sqs::one:fake";
  private static final String EVERYTHING =
      document(
          ARN,
          "s3:ObjectCreated:*",
          "s3:ObjectRemoved:*",
          "s3:ObjectTagging:*",
          "s3:ObjectAcl:Put");

  private final MemoryTarget target = new MemoryTarget(ARN);
  private final TestS3 s3 = new TestS3(List.of(target));

  private static String document(String arn, String... events) {
    StringBuilder xml = new StringBuilder("<NotificationConfiguration><QueueConfiguration>");
    xml.append("<Queue>").append(arn).append("</Queue>");
    for (String event : events) {
      xml.append("<Event>").append(event).append("</Event>");
    }
    return xml.append("</QueueConfiguration></NotificationConfiguration>").toString();
  }

  @BeforeEach
  void create() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  private TestAnswer put(String document) throws Exception {
    return s3.send(TestS3.request("PUT", "/bkt?notification").body(document));
  }

  private void notifyOfEverything() throws Exception {
    assertEquals(200, put(EVERYTHING).status());
  }

  private List<EventRow> events() throws Exception {
    return s3.metadata.events(null, 100).events();
  }

  private List<String> names() throws Exception {
    return events().stream()
        .map(event -> EventName.of(event).text() + " " + event.getKey())
        .toList();
  }

  @Test
  void whatWasPutIsReturnedUntilItIsReplaced() throws Exception {
    assertTrue(s3.ok(200, "GET", "/bkt?notification").xml().children().isEmpty());
    notifyOfEverything();
    String got = s3.ok(200, "GET", "/bkt?notification").text();
    assertTrue(got.contains("<Queue>" + ARN + "</Queue>"), got);
    assertTrue(got.contains("<Id>"), got);
    assertEquals(200, put("<NotificationConfiguration/>").status());
    assertTrue(s3.ok(200, "GET", "/bkt?notification").xml().children().isEmpty());
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("x"));
    assertEquals(List.of(), names());
    s3.refused("NoSuchBucket", "GET", "/none?notification");
    s3.refused("NoSuchBucket", "PUT", "/none?notification");
  }

  @Test
  void targetsAreSentATestEvent() throws Exception {
    notifyOfEverything();
    assertEquals(1, target.messages.size());
    String message = target.messages.getFirst();
    assertTrue(message.contains("\"Event\":\"s3:TestEvent\""), message);
    assertTrue(message.contains("\"Bucket\":\"bkt\""), message);
  }

  @Test
  void aTargetThatTakesNoTestEventIsRefusedUnlessTheClientSkipsIt() throws Exception {
    target.isDown = true;
    TestAnswer refused = put(EVERYTHING);
    assertEquals("InvalidArgument", refused.code());
    assertFalse(String.valueOf(refused.error()).contains("hunter2"));
    assertFalse(refused.detail("ArgumentValue").contains("hunter2"));
    assertTrue(s3.ok(200, "GET", "/bkt?notification").xml().children().isEmpty());
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?notification")
            .header("x-amz-skip-destination-validation", "true")
            .body(EVERYTHING));
    assertFalse(s3.ok(200, "GET", "/bkt?notification").xml().children().isEmpty());
  }

  @Test
  void aTargetThatIsNotConfiguredIsRefusedEvenUnseen() throws Exception {
    s3.refused(
        "InvalidArgument",
        TestS3.request("PUT", "/bkt?notification")
            .header("x-amz-skip-destination-validation", "true")
            .body(document("arn:ashlar:sqs::two:fake", "s3:ObjectCreated:*")));
    assertEquals("MalformedXML", put("no XML").code());
    assertEquals("MalformedXML", put("").code());
    assertEquals("NotImplemented", put(document(ARN, "s3:ObjectRestore:*")).code());
    assertEquals(List.of(), target.messages);
  }

  @Test
  void everyChangeIsTold() throws Exception {
    notifyOfEverything();
    s3.ok(200, TestS3.request("PUT", "/bkt/put").body("12345"));
    s3.ok(200, TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "/bkt/put"));
    String id = s3.ok(200, "POST", "/bkt/parts?uploads").element("UploadId");
    String etag =
        s3.ok(200, TestS3.request("PUT", "/bkt/parts?partNumber=1&uploadId=" + id).body("part"))
            .header("ETag");
    s3.ok(
        200,
        TestS3.request("POST", "/bkt/parts?uploadId=" + id)
            .body(
                "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                    + etag
                    + "</ETag></Part></CompleteMultipartUpload>"));
    s3.ok(200, TestS3.request("PUT", "/bkt/put?append&position=5").body("67"));
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt/put?tagging")
            .body("<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>"));
    s3.ok(204, "DELETE", "/bkt/put?tagging");
    s3.ok(200, TestS3.request("PUT", "/bkt/put?acl").header("x-amz-acl", "private"));
    s3.ok(204, "DELETE", "/bkt/copy");
    s3.ok(204, "DELETE", "/bkt/none");
    s3.ok(
        200,
        TestS3.request("POST", "/bkt?delete")
            .header("Content-MD5", "not looked at here")
            .body("<Delete><Object><Key>parts</Key></Object></Delete>"));
    assertEquals(
        List.of(
            "ObjectCreated:Put put",
            "ObjectCreated:Copy copy",
            "ObjectCreated:CompleteMultipartUpload parts",
            "ObjectCreated:Put put",
            "ObjectTagging:Put put",
            "ObjectTagging:Delete put",
            "ObjectAcl:Put put",
            "ObjectRemoved:Delete copy",
            "ObjectRemoved:Delete parts"),
        names());
    for (EventRow event : events()) {
      assertEquals("127.0.0.1", event.getOrigin().getSourceIp(), event::toString);
      assertFalse(event.getOrigin().getRequestId().isEmpty(), event::toString);
      assertFalse(event.getOrigin().getPrincipal().isEmpty(), event::toString);
    }
  }

  @Test
  void onlyWhatIsAskedForIsWritten() throws Exception {
    assertEquals(200, put(document(ARN, "s3:ObjectRemoved:DeleteMarkerCreated")).status());
    s3.ok(200, TestS3.request("PUT", "/bkt/a").body("x"));
    s3.ok(204, "DELETE", "/bkt/a");
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?versioning")
            .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"));
    s3.ok(200, TestS3.request("PUT", "/bkt/b").body("x"));
    s3.ok(204, "DELETE", "/bkt/b");
    assertEquals(List.of("ObjectRemoved:DeleteMarkerCreated b"), names());
    assertTrue(events().getFirst().getVersioned());
  }
}
