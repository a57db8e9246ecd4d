package dev.ashlar.gateway.notification;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.EventRow;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;

/**
 * What a target is told of one event.
 *
 * @param key bucket, slash and key of the object: messages with the same key have an order
 * @param json in S3's format
 */
public record EventMessage(String key, byte[] json) {
  private static final JsonFactory JSON = new JsonFactory();
  private static final HexFormat HEX = HexFormat.of().withUpperCase();
  private static final String ANONYMOUS = "Anonymous";

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  /** What events of a bucket have in common. */
  public record Context(BucketRow bucket, String region, String configurationId) {}

  /** Writes JSON. */
  private interface Content {
    void write(JsonGenerator out) throws IOException;
  }

  /** The message of an event. */
  public static EventMessage of(EventRow event, Context context) {
    return new EventMessage(
        key(event),
        json(
            out -> {
              out.writeArrayFieldStart("Records");
              out.writeStartObject();
              record(out, event, context);
              out.writeEndObject();
              out.writeEndArray();
            }));
  }

  /** Bucket, slash and key of the object. */
  public static String key(EventRow event) {
    return event.getBucket() + "/" + event.getKey();
  }

  /** What a target is sent when it is configured. */
  public static EventMessage test(String bucket, Instant now, String requestId, String hostId) {
    return new EventMessage(
        bucket + "/",
        json(
            out -> {
              out.writeStringField("Service", "Amazon S3");
              out.writeStringField("Event", "s3:TestEvent");
              out.writeStringField("Time", TIME.format(now));
              out.writeStringField("Bucket", bucket);
              out.writeStringField("RequestId", requestId);
              out.writeStringField("HostId", hostId);
            }));
  }

  private static byte[] json(Content content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(1024);
    try (JsonGenerator out = JSON.createGenerator(bytes)) {
      out.writeStartObject();
      content.write(out);
      out.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // never: into memory
    }
    return bytes.toByteArray();
  }

  private static void record(JsonGenerator out, EventRow event, Context context)
      throws IOException {
    out.writeStringField("eventVersion", "2.1");
    out.writeStringField("eventSource", "aws:s3");
    out.writeStringField("awsRegion", context.region);
    out.writeStringField("eventTime", TIME.format(Instant.ofEpochMilli(event.getTimeMs())));
    out.writeStringField("eventName", EventName.of(event).text());
    out.writeObjectFieldStart("userIdentity");
    out.writeStringField("principalId", principal(event.getOrigin().getPrincipal()));
    out.writeEndObject();
    out.writeObjectFieldStart("requestParameters");
    out.writeStringField("sourceIPAddress", event.getOrigin().getSourceIp());
    out.writeEndObject();
    out.writeObjectFieldStart("responseElements");
    out.writeStringField("x-amz-request-id", event.getOrigin().getRequestId());
    out.writeEndObject();
    out.writeObjectFieldStart("s3");
    out.writeStringField("s3SchemaVersion", "1.0");
    out.writeStringField("configurationId", context.configurationId);
    bucket(out, context.bucket);
    object(out, event);
    out.writeEndObject();
  }

  private static String principal(String principal) {
    boolean isPlain =
        principal.isEmpty() || principal.equals(ANONYMOUS) || principal.equals(EventName.LIFECYCLE);
    return isPlain ? principal : "AWS:" + principal;
  }

  private static void bucket(JsonGenerator out, BucketRow bucket) throws IOException {
    out.writeObjectFieldStart("bucket");
    out.writeStringField("name", bucket.getName());
    out.writeObjectFieldStart("ownerIdentity");
    out.writeStringField("principalId", bucket.getOwner());
    out.writeEndObject();
    out.writeStringField("arn", "arn:aws:s3:::" + bucket.getName());
    out.writeEndObject();
  }

  private static void object(JsonGenerator out, EventRow event) throws IOException {
    out.writeObjectFieldStart("object");
    out.writeStringField("key", encoded(event.getKey()));
    if (!event.getEtag().isEmpty()) { // deletions have none
      out.writeNumberField("size", event.getSize());
      out.writeStringField("eTag", event.getEtag());
    }
    if (event.getVersioned()) {
      out.writeStringField("versionId", VersionId.of(event.getVersion(), true));
    }
    out.writeStringField("sequencer", sequencer(event));
    out.writeEndObject();
  }

  /** As in forms, but with slashes. */
  private static String encoded(String key) {
    return URLEncoder.encode(key, StandardCharsets.UTF_8).replace("%2F", "/");
  }

  /** Of two events of a key, the later one has the greater text. */
  private static String sequencer(EventRow event) {
    return HEX.toHexDigits(event.getPosition()) + HEX.toHexDigits(event.getNumber());
  }
}
