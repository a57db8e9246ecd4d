package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;

class AwsChunkedBodyTest {
  private enum Form {
    SIGNED,
    SIGNED_TRAILER,
    UNSIGNED_TRAILER
  }

  /** Delivers its bytes in pieces of any size. */
  private static final class Pieces implements RequestBody {
    private final Queue<ByteBuf> pieces = new ArrayDeque<>();
    final List<ByteBuf> all = new ArrayList<>();
    private final long length;

    Pieces(String wire, Random random) {
      length = wire.length();
      byte[] bytes = wire.getBytes(ISO_8859_1);
      for (int at = 0; at < bytes.length; ) {
        int size = Math.min(bytes.length - at, 1 + random.nextInt(1 << random.nextInt(15)));
        pieces.add(Unpooled.directBuffer(size).writeBytes(bytes, at, size));
        at += size;
      }
      all.addAll(pieces);
    }

    @Override
    public long length() {
      return length;
    }

    @Override
    public @Nullable ByteBuf read() {
      return pieces.poll();
    }

    void releaseUnread() {
      pieces.forEach(ByteBuf::release);
      pieces.clear();
    }
  }

  /** The payload, or the code of the error it ends in. */
  private record Outcome(String payload, @Nullable S3Error error) {}

  @Property(tries = 300)
  void anySplitGivesThePayload(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    for (Form form : Form.values()) {
      String payload = payload(random);
      assertEquals(
          new Outcome(payload, null), decode(form, payload, wire(form, payload, random), random));
    }
  }

  /** One byte changed anywhere: never a payload that passes as whole but differs. */
  @Property(tries = 500)
  void damageIsNeverTakenForThePayload(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    Form form = random.nextBoolean() ? Form.SIGNED : Form.SIGNED_TRAILER;
    String payload = payload(random);
    StringBuilder wire = new StringBuilder(wire(form, payload, random));
    int at = random.nextInt(wire.length());
    wire.setCharAt(at, (char) (wire.charAt(at) ^ (1 << random.nextInt(8))));
    Outcome outcome = decode(form, payload, wire.toString(), random);
    assertTrue(outcome.error() != null || outcome.payload().equals(payload), "seed " + seed);
  }

  /** Cut anywhere, it is incomplete. */
  @Property(tries = 300)
  void aCutBodyIsIncomplete(@ForAll long seed, @ForAll @IntRange(max = 2) int form)
      throws Exception {
    Random random = new Random(seed);
    String payload = payload(random);
    String wire = wire(Form.values()[form], payload, random);
    String cut = wire.substring(0, random.nextInt(wire.length()));
    Outcome outcome = decode(Form.values()[form], payload, cut, random);
    assertEquals(S3Error.INCOMPLETE_BODY, outcome.error());
    assertTrue(payload.startsWith(outcome.payload()));
  }

  @Property(tries = 1000)
  void garbageNeverBreaksTheDecoder(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    StringBuilder garbage = new StringBuilder();
    String alphabet = "0123456789abcdefF;:\r\n\r\n\r\n-= chunk-signature=x-amz-checksum-crc32:";
    for (int i = random.nextInt(200); i > 0; i--) {
      garbage.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    decode(Form.values()[random.nextInt(3)], "", garbage.toString(), random);
  }

  private static String payload(Random random) {
    int length = random.nextInt(5) == 0 ? 0 : random.nextInt(40_000);
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return new String(bytes, ISO_8859_1);
  }

  private static String wire(Form form, String payload, Random random) {
    TestSigner signer = signer(form);
    StringBuilder wire = new StringBuilder();
    for (int at = 0; at < payload.length(); ) {
      int size = Math.min(payload.length() - at, 8192 + random.nextInt(10_000));
      chunk(form, signer, payload.substring(at, at + size), wire);
      wire.append("\r\n");
      at += size;
    }
    chunk(form, signer, "", wire);
    if (form != Form.SIGNED) {
      wire.append("x-amz-checksum-crc32:AAAAAA==\r\n");
    }
    if (form == Form.SIGNED_TRAILER) {
      String signature = signer.trailerSignature("x-amz-checksum-crc32:AAAAAA==\n");
      wire.append("x-amz-trailer-signature:").append(signature).append("\r\n");
    }
    return wire.append("\r\n").toString();
  }

  private static void chunk(Form form, TestSigner signer, String data, StringBuilder wire) {
    wire.append(Integer.toHexString(data.length()));
    wire.append(form == Form.UNSIGNED_TRAILER ? "" : signer.chunkExtension(data)).append("\r\n");
    wire.append(data);
  }

  private static TestSigner signer(Form form) {
    TestSigner signer = new TestSigner();
    signer.head("PUT", "/k", "", Map.of("x-amz-content-sha256", form.name()));
    return signer;
  }

  private static Outcome decode(Form form, String payload, String wire, Random random)
      throws Exception {
    Pieces source = new Pieces(wire, random);
    AwsChunkedBody body =
        new AwsChunkedBody(
            source,
            payload.length(),
            form == Form.UNSIGNED_TRAILER ? null : signatures(form),
            form != Form.SIGNED);
    StringBuilder decoded = new StringBuilder();
    S3Error error = null;
    try {
      for (ByteBuf piece = body.read(); piece != null; piece = body.read()) {
        decoded.append(piece.toString(ISO_8859_1));
        piece.release();
      }
      if (form != Form.SIGNED) {
        assertEquals("AAAAAA==", body.trailer("x-amz-checksum-crc32"));
      }
    } catch (S3Exception e) {
      error = e.error();
    }
    body.close();
    source.releaseUnread();
    source.all.forEach(piece -> assertEquals(0, piece.refCnt()));
    return new Outcome(decoded.toString(), error);
  }

  private static ChunkSignatures signatures(Form form) {
    String head = signer(form).head("PUT", "/k", "", Map.of("x-amz-content-sha256", form.name()));
    int at = head.indexOf("Signature=") + "Signature=".length();
    SignatureClaim.CredentialScope scope =
        new SignatureClaim.CredentialScope(
            TestSigner.ACCESS_KEY,
            "20130524",
            "us-east-1",
            SignatureClaim.CredentialScope.SERVICE,
            SignatureClaim.CredentialScope.TERMINATOR);
    SignatureClaim claim =
        new SignatureClaim(
            scope,
            new String[0],
            head.substring(at, at + 64),
            TestSigner.TIMESTAMP,
            form.name(),
            false);
    return new ChunkSignatures(new SigningKeys().get(TestSigner.SECRET, scope), claim);
  }
}
