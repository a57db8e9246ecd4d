package dev.ashlar.gateway.lifecycle;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.LifecycleDocument;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Rules as metadata stores them: the XML that S3 answers, deflated, because a thousand rules would
 * hardly be a document otherwise.
 */
public final class LifecycleDocuments {
  /** The number of this document among those of a bucket. */
  public static final int RULES = 16;

  /** That of how far the rules are carried out. */
  public static final int SCAN = 17;

  /** The most that metadata takes. */
  private static final int STORED_BYTES_MAX = 64 << 10;

  private static final int XML_BYTES_MAX = 1 << 20;

  /**
   * What was stored.
   *
   * @param bytes of its XML
   */
  public record Stored(LifecycleRules rules, long bytes) {}

  private LifecycleDocuments() {}

  /**
   * The document.
   *
   * @throws S3Exception MaxMessageLengthExceeded; MalformedXML for characters that XML 1.0 lacks
   */
  public static ByteString of(LifecycleRules rules) throws S3Exception {
    byte[] xml = xml(rules);
    ByteString document =
        LifecycleDocument.newBuilder()
            .setRules(ByteString.copyFrom(deflated(xml)))
            .setSmallObjectsStay(rules.smallObjectsStay())
            .build()
            .toByteString();
    if (xml.length > XML_BYTES_MAX || document.size() > STORED_BYTES_MAX) {
      throw new S3Exception(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED);
    }
    if (read(document) == null) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    return document;
  }

  /** The rules of a document; null if this build cannot read it: then nothing is done by it. */
  public static @Nullable Stored read(ByteString document) {
    try {
      LifecycleDocument stored = LifecycleDocument.parseFrom(document);
      byte[] xml = inflated(stored.getRules().toByteArray());
      List<LifecycleRule> rules =
          LifecycleReader.read(
              xml,
              () -> {
                throw new IllegalStateException("a rule without an id was stored");
              });
      return new Stored(new LifecycleRules(rules, stored.getSmallObjectsStay()), xml.length);
    } catch (IOException | S3Exception | IllegalStateException e) {
      return null;
    }
  }

  /** The rules as S3 answers them. */
  public static byte[] xml(LifecycleRules rules) {
    return LifecycleWriter.write(rules.rules());
  }

  private static byte[] deflated(byte[] bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (DeflaterOutputStream deflater = new DeflaterOutputStream(out)) {
      deflater.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // memory does not fail
    }
    return out.toByteArray();
  }

  private static byte[] inflated(byte[] bytes) throws IOException {
    try (InflaterInputStream inflater = new InflaterInputStream(new ByteArrayInputStream(bytes))) {
      byte[] xml = inflater.readNBytes(XML_BYTES_MAX);
      if (inflater.read() >= 0) {
        throw new IOException("too long");
      }
      return xml;
    }
  }
}
