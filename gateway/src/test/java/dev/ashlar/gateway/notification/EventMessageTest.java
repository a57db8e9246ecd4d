package dev.ashlar.gateway.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.RequestOrigin;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class EventMessageTest {
  private static final EventMessage.Context CONTEXT =
      new EventMessage.Context(
          BucketRow.newBuilder().setName("bkt").setOwner("0123").build(), "eu-1", "conf");

  private static final EventRow EVENT =
      EventRow.newBuilder()
          .setPosition(0x1234)
          .setNumber(5)
          .setKind(EventRow.Kind.CREATED_BY_PUT)
          .setBucket("bkt")
          .setKey("a b/ü+\"\u0001.jpg")
          .setVersion(0x1234)
          .setVersioned(true)
          .setSize(7)
          .setEtag("abc-2")
          .setTimeMs(Instant.parse("2026-11-28T01:02:03.040Z").toEpochMilli())
          .setOrigin(
              RequestOrigin.newBuilder()
                  .setPrincipal("AIDA1")
                  .setSourceIp("::1")
                  .setRequestId("0F"))
          .build();

  private static String json(EventRow event) {
    return new String(EventMessage.of(event, CONTEXT).json(), StandardCharsets.UTF_8);
  }

  @Test
  void theFormatIsThatOfAmazon() {
    assertEquals(
        """
        {"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","awsRegion":"eu-1",\
        "eventTime":"2026-11-28T01:02:03.040Z","eventName":"ObjectCreated:Put",\
        "userIdentity":{"principalId":"AWS:AIDA1"},\
        "requestParameters":{"sourceIPAddress":"::1"},\
        "responseElements":{"x-amz-request-id":"0F"},\
        "s3":{"s3SchemaVersion":"1.0","configurationId":"conf",\
        "bucket":{"name":"bkt","ownerIdentity":{"principalId":"0123"},"arn":"arn:aws:s3:::bkt"},\
        "object":{"key":"a+b/%C3%BC%2B%22%01.jpg","size":7,"eTag":"abc-2",\
        "versionId":"0000000000001234","sequencer":"000000000000123400000005"}}}]}""",
        json(EVENT));
    assertEquals("bkt/a b/ü+\"\u0001.jpg", EventMessage.of(EVENT, CONTEXT).key());
  }

  @Test
  void aDeletionHasNoSize() {
    String deleted =
        json(
            EVENT.toBuilder()
                .setKind(EventRow.Kind.DELETED)
                .clearSize()
                .clearEtag()
                .clearVersioned()
                .build());
    assertTrue(deleted.contains("\"eventName\":\"ObjectRemoved:Delete\""), deleted);
    assertTrue(deleted.contains(".jpg\",\"sequencer\""), deleted);
  }

  @Test
  void principalsThatAreNoIds() {
    for (String principal : new String[] {"", "Anonymous", "s3.amazonaws.com"}) {
      String json =
          json(
              EVENT.toBuilder()
                  .setOrigin(RequestOrigin.newBuilder().setPrincipal(principal))
                  .build());
      assertTrue(json.contains("{\"principalId\":\"" + principal + "\"}"), json);
      assertFalse(json.contains("AWS:"), json);
    }
  }

  @Test
  void theTestEvent() {
    assertEquals(
        """
        {"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2026-11-28T00:00:00.000Z",\
        "Bucket":"bkt","RequestId":"r","HostId":"h"}""",
        new String(
            EventMessage.test("bkt", Instant.parse("2026-11-28T00:00:00Z"), "r", "h").json(),
            StandardCharsets.UTF_8));
  }
}
