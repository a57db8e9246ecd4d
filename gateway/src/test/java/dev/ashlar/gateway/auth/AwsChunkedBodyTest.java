package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AwsChunkedBodyTest {
  private enum Form {
    SIGNED,
    SIGNED_TRAILER,
    UNSIGNED_TRAILER
  }

  private static final String CHUNK_SIGNATURE = ";chunk-signature=";
  private static final int CHUNK_BYTES_MIN = 8 << 10;
  private static final int HELD_BYTES_MAX = ChunkVerifier.HELD_BYTES_MAX;

  /** Of chunks that are held until a second one is there, and of one that is not. */
  private static final List<Integer> CHUNK_BYTES =
      List.of(CHUNK_BYTES_MIN, 64 << 10, HELD_BYTES_MAX, HELD_BYTES_MAX + 1);

  /** Delivers its bytes in pieces. */
  private static final class Pieces implements RequestBody {
    private final Queue<ByteBuf> pieces = new ArrayDeque<>();
    final List<ByteBuf> all = new ArrayList<>();
    private final long length;

    /** Of any size; most are in direct buffers. */
    Pieces(String wire, Random random) {
      this(wire, pieceBytes(random), random.nextInt(8) > 0);
    }

    Pieces(String wire, IntSupplier pieceBytes, boolean isDirect) {
      length = wire.length();
      byte[] bytes = wire.getBytes(ISO_8859_1);
      for (int at = 0; at < bytes.length; ) {
        int size = Math.min(bytes.length - at, pieceBytes.getAsInt());
        ByteBuf piece = isDirect ? Unpooled.directBuffer(size) : Unpooled.buffer(size);
        pieces.add(piece.writeBytes(bytes, at, size));
        at += size;
      }
      all.addAll(pieces);
    }

    /** Some bodies come in so few pieces that chunks are held, others are crumbled. */
    private static IntSupplier pieceBytes(Random random) {
      int bytesMax = 1 << (8 + random.nextInt(11));
      boolean isEven = random.nextBoolean();
      return () -> isEven ? bytesMax : 1 + random.nextInt(1 << random.nextInt(15));
    }

    @Override
    public long length() {
      return length;
    }

    @Override
    public @Nullable ByteBuf read() {
      return pieces.poll();
    }

    /** Of what was delivered, nothing is kept. */
    void releaseUnread() {
      pieces.forEach(ByteBuf::release);
      pieces.clear();
      all.forEach(piece -> assertEquals(0, piece.refCnt()));
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

  @Property(tries = 100)
  void chunksOfAllLengthsGiveThePayload(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    Form form = signedForm(random);
    List<Integer> chunks = chunks(random);
    String payload = payload(random, chunks);
    Outcome outcome = decode(form, payload, wire(form, payload, payload, chunks), random);
    assertNull(outcome.error(), () -> "chunks " + chunks);
    assertTrue(outcome.payload().equals(payload), () -> "chunks " + chunks);
  }

  /** In each chunk of a body: first or second of a pair, alone before the end, or not held. */
  @Property(tries = 30)
  void aChangedByteIsRefusedAndInPairsAtMostOneChunkLater(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    Form form = signedForm(random);
    List<Integer> chunks = chunks(random);
    String payload = payload(random, chunks);
    int begin = 0;
    for (int changed = 0; changed < chunks.size(); changed++) {
      int end = begin + chunks.get(changed);
      String wire = wire(form, payload, change(payload, begin, end, random), chunks);
      boolean inPairs = random.nextBoolean();
      Outcome outcome = decode(form, payload, wire, inPairs, random);
      assertEquals(S3Error.SIGNATURE_DOES_NOT_MATCH, outcome.error());
      int next = inPairs && changed + 1 < chunks.size() ? chunks.get(changed + 1) : 0;
      assertTrue(outcome.payload().length() <= end + next, "chunk " + changed + " of " + chunks);
      begin = end;
    }
  }

  /** Of a chunk anywhere, or of the empty one at the end. */
  @Property(tries = 50)
  void aChangedSignatureIsRefused(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    Form form = signedForm(random);
    List<Integer> chunks = chunks(random);
    String payload = payload(random, chunks);
    String wire = wire(form, payload, payload, chunks);
    int begin = beginOfFrame(wire, chunks, random.nextInt(chunks.size() + 1));
    begin = wire.indexOf(CHUNK_SIGNATURE, begin) + CHUNK_SIGNATURE.length();
    int at = begin + random.nextInt(64);
    char other = wire.charAt(at) == '0' ? '1' : '0';
    String changed = wire.substring(0, at) + other + wire.substring(at + 1);
    assertEquals(S3Error.SIGNATURE_DOES_NOT_MATCH, decode(form, payload, changed, random).error());
  }

  /** Each with its own signature, which covers the one before it. */
  @Property(tries = 50)
  void chunksThatChangedPlacesAreRefused(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    Form form = signedForm(random);
    List<Integer> chunks = chunks(random);
    // The last one stays where it is, because only that one may be short.
    chunks.addAll(0, List.of(CHUNK_BYTES_MIN, CHUNK_BYTES_MIN));
    String payload = payload(random, chunks);
    String wire = wire(form, payload, payload, chunks);
    int chunk = random.nextInt(chunks.size() - 2);
    int first = beginOfFrame(wire, chunks, chunk);
    int second = beginOfFrame(wire, chunks, chunk + 1);
    int end = beginOfFrame(wire, chunks, chunk + 2);
    String changed =
        wire.substring(0, first)
            + wire.substring(second, end)
            + wire.substring(first, second)
            + wire.substring(end);
    assertEquals(S3Error.SIGNATURE_DOES_NOT_MATCH, decode(form, payload, changed, random).error());
  }

  private static int beginOfFrame(String wire, List<Integer> chunks, int chunk) {
    int at = 0;
    for (int size : chunks.subList(0, chunk)) {
      at = wire.indexOf("\r\n", at) + 2 + size + 2;
    }
    return at;
  }

  /** What follows a chunk that does not match is not the error, whatever it is. */
  @Property(tries = 50)
  void aChangedChunkIsTheErrorOfACutBody(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    List<Integer> chunks = chunks(random);
    String payload = payload(random, chunks);
    String wire = wire(Form.SIGNED, payload, change(payload, 0, chunks.get(0), random), chunks);
    int endOfFirst = wire.indexOf("\r\n") + 2 + chunks.get(0) + 2;
    String cut = wire.substring(0, endOfFirst + random.nextInt(wire.length() - endOfFirst));
    for (String bad : List.of(cut, cut + "\r\n\r\n", cut + "x".repeat(10_000))) {
      assertEquals(
          S3Error.SIGNATURE_DOES_NOT_MATCH, decode(Form.SIGNED, payload, bad, random).error());
    }
  }

  /** Wherever its reader stops, no piece of a body is kept. */
  @Property(tries = 200)
  void aClosedBodyKeepsNothing(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    Form form = signedForm(random);
    List<Integer> chunks = chunks(random);
    String payload = payload(random, chunks);
    Pieces source = new Pieces(wire(form, payload, payload, chunks), random);
    AwsChunkedBody body = body(source, form, payload, random.nextBoolean());
    for (int pieces = random.nextInt(source.all.size()); pieces > 0; pieces--) {
      ByteBuf piece = body.read();
      if (piece != null) {
        piece.release();
      }
    }
    body.close();
    body.close();
    source.releaseUnread();
  }

  @ParameterizedTest
  @CsvSource({
    "true, 65536, 65536, true",
    "true, 131072, 131072, true",
    "true, 131072, 4096, true",
    "true, 131072, 4095, false",
    "true, 131073, 131073, false",
    "false, 65536, 65536, false"
  })
  void aShortChunkInFewPiecesWaitsForTheNext(
      boolean inPairs, int chunkBytes, int pieceBytes, boolean waits) throws Exception {
    String payload = "x".repeat(3 * chunkBytes);
    List<Integer> chunks = List.of(chunkBytes, chunkBytes, chunkBytes);
    String wire = wire(Form.SIGNED, payload, payload, chunks);
    int frame = wire.indexOf("\r\n") + 2;
    Pieces source = new Pieces(wire, piecesOfChunks(frame, chunkBytes, pieceBytes), true);
    AwsChunkedBody body = body(source, Form.SIGNED, payload, inPairs);
    // The frame's line comes alone, and the data of a chunk ends with a piece.
    int piecesOfChunk = 2 + (chunkBytes + pieceBytes - 1) / pieceBytes;
    List<ByteBuf> first = source.all.subList(1, piecesOfChunk - 1);
    readBytes(body, chunkBytes + 1);
    assertEquals(waits, first.stream().anyMatch(piece -> piece.refCnt() > 0));
    readBytes(body, chunkBytes);
    first.forEach(piece -> assertEquals(0, piece.refCnt(), "both are verified"));
    while (readBytes(body, 1) > 0) {}
    body.close();
    source.releaseUnread();
  }

  /** The sizes of pieces in which each frame line, piece of data, and line end are apart. */
  private static IntSupplier piecesOfChunks(int frame, int chunkBytes, int pieceBytes) {
    List<Integer> sizes = new ArrayList<>(List.of(frame));
    for (int left = chunkBytes; left > 0; left -= pieceBytes) {
      sizes.add(Math.min(left, pieceBytes));
    }
    sizes.add(2);
    Iterator<Integer> endless = Stream.generate(() -> sizes).flatMap(List::stream).iterator();
    return endless::next;
  }

  /** Reads and releases pieces until so many bytes have come, or the body has ended. */
  private static int readBytes(AwsChunkedBody body, int bytes) throws Exception {
    int got = 0;
    while (got < bytes) {
      ByteBuf piece = body.read();
      if (piece == null) {
        return got;
      }
      got += piece.readableBytes();
      piece.release();
    }
    return got;
  }

  /** One byte changed anywhere: never a payload that passes as whole but differs. */
  @Property(tries = 500)
  void damageIsNeverTakenForThePayload(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    Form form = signedForm(random);
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

  private static Form signedForm(Random random) {
    return random.nextBoolean() ? Form.SIGNED : Form.SIGNED_TRAILER;
  }

  /** The lengths of up to six chunks; the last one may be of any length. */
  private static List<Integer> chunks(Random random) {
    List<Integer> chunks = new ArrayList<>();
    for (int more = random.nextInt(6); more > 0; more--) {
      chunks.add(CHUNK_BYTES.get(random.nextInt(CHUNK_BYTES.size())));
    }
    chunks.add(1 + random.nextInt(HELD_BYTES_MAX + 1));
    return chunks;
  }

  private static String payload(Random random) {
    return payload(random, random.nextInt(5) == 0 ? 0 : random.nextInt(40_000));
  }

  private static String payload(Random random, List<Integer> chunks) {
    return payload(random, chunks.stream().mapToInt(Integer::intValue).sum());
  }

  private static String payload(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return new String(bytes, ISO_8859_1);
  }

  /** With a bit of one byte changed, which is from begin to end. */
  private static String change(String text, int begin, int end, Random random) {
    StringBuilder changed = new StringBuilder(text);
    int at = begin + random.nextInt(end - begin);
    changed.setCharAt(at, (char) (text.charAt(at) ^ (1 << random.nextInt(8))));
    return changed.toString();
  }

  private static String wire(Form form, String payload, Random random) {
    List<Integer> chunks = new ArrayList<>();
    for (int left = payload.length(); left > 0; left -= chunks.getLast()) {
      chunks.add(Math.min(left, CHUNK_BYTES_MIN + random.nextInt(10_000)));
    }
    return wire(form, payload, payload, chunks);
  }

  /**
   * @param sent instead of the payload, which is signed
   */
  private static String wire(Form form, String payload, String sent, List<Integer> chunks) {
    TestSigner signer = signer(form);
    StringBuilder wire = new StringBuilder();
    int at = 0;
    for (int size : chunks) {
      frame(form, signer, payload.substring(at, at + size), wire);
      wire.append(sent, at, at + size).append("\r\n");
      at += size;
    }
    frame(form, signer, "", wire);
    if (form != Form.SIGNED) {
      wire.append("x-amz-checksum-crc32:AAAAAA==\r\n");
    }
    if (form == Form.SIGNED_TRAILER) {
      String signature = signer.trailerSignature("x-amz-checksum-crc32:AAAAAA==\n");
      wire.append("x-amz-trailer-signature:").append(signature).append("\r\n");
    }
    return wire.append("\r\n").toString();
  }

  /** The line before the data of a chunk. */
  private static void frame(Form form, TestSigner signer, String data, StringBuilder wire) {
    wire.append(Integer.toHexString(data.length()));
    wire.append(form == Form.UNSIGNED_TRAILER ? "" : signer.chunkExtension(data)).append("\r\n");
  }

  private static TestSigner signer(Form form) {
    TestSigner signer = new TestSigner();
    signer.head("PUT", "/k", "", Map.of("x-amz-content-sha256", form.name()));
    return signer;
  }

  private static Outcome decode(Form form, String payload, String wire, Random random)
      throws Exception {
    return decode(form, payload, wire, random.nextBoolean(), random);
  }

  private static Outcome decode(
      Form form, String payload, String wire, boolean inPairs, Random random) throws Exception {
    Pieces source = new Pieces(wire, random);
    AwsChunkedBody body = body(source, form, payload, inPairs);
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
    return new Outcome(decoded.toString(), error);
  }

  private static AwsChunkedBody body(Pieces source, Form form, String payload, boolean inPairs) {
    ChunkVerifier verifier =
        form == Form.UNSIGNED_TRAILER ? null : new ChunkVerifier(signatures(form), inPairs);
    return new AwsChunkedBody(source, payload.length(), verifier, form != Form.SIGNED);
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
