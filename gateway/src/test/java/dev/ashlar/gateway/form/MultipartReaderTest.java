package dev.ashlar.gateway.form;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies of forms, cut into pieces anywhere. */
class MultipartReaderTest {
  private static final String BOUNDARY = "b";
  private static final String HEAD =
      "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n";
  private static final int BUDGET = 1000;

  /** A body in pieces, all of which have to be released. */
  private static final class Pieces implements RequestBody {
    private final Deque<ByteBuf> left = new ArrayDeque<>();
    private final List<ByteBuf> all = new ArrayList<>();

    void add(byte[] bytes, int from, int to) {
      ByteBuf piece = Unpooled.buffer(1).writeBytes(bytes, from, to - from);
      left.add(piece);
      all.add(piece);
    }

    @Override
    public long length() {
      return -1;
    }

    @Override
    public @Nullable ByteBuf read() {
      return left.poll();
    }

    void assertReleased() {
      left.forEach(ByteBuf::release);
      all.forEach(piece -> assertEquals(0, piece.refCnt(), "a piece was not released"));
    }
  }

  private static Pieces cut(byte[] body, Random random) {
    Pieces pieces = new Pieces();
    int max = random.nextBoolean() ? 3 : 40;
    for (int from = 0; from < body.length; ) {
      int to = Math.min(body.length, from + random.nextInt(max + 1));
      pieces.add(body, from, to);
      from = to;
    }
    return pieces;
  }

  private static byte[] content(MultipartReader reader) throws Exception {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (ByteBuf piece = reader.content(); piece != null; piece = reader.content()) {
      byte[] bytes = new byte[piece.readableBytes()];
      piece.readBytes(bytes);
      piece.release();
      content.writeBytes(bytes);
    }
    return content.toByteArray();
  }

  /** Bytes that often are, or nearly are, those of a delimiter. */
  private static byte[] confusing(Random random) {
    String[] words = {
      "\r", "\n", "-", "--", "b", "\r\n", "\r\n-", "\r\n--", "--b", "x", "\r\r\n--"
    };
    StringBuilder text = new StringBuilder();
    for (int left = random.nextInt(30); left > 0; left--) {
      text.append(
          random.nextInt(4) == 0
              ? Character.toString((char) random.nextInt(256))
              : words[random.nextInt(words.length)]);
    }
    return text.toString().replace("\r\n--b", "\r\n--c").getBytes(ISO_8859_1);
  }

  @Property(tries = 3000)
  void anyBytesInAnyPiecesComeBack(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    List<byte[]> parts = new ArrayList<>();
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    if (random.nextInt(4) == 0) {
      body.writeBytes("preamble\r\n".getBytes(ISO_8859_1));
    }
    for (int part = random.nextInt(4); part >= 0; part--) {
      byte[] content = confusing(random);
      parts.add(content);
      body.writeBytes(HEAD.getBytes(ISO_8859_1));
      body.writeBytes(content);
      body.writeBytes("\r\n".getBytes(ISO_8859_1));
    }
    body.writeBytes("--b--\r\nepilogue".getBytes(ISO_8859_1));
    Pieces pieces = cut(body.toByteArray(), random);
    MultipartReader reader = new MultipartReader(pieces, BOUNDARY, BUDGET);
    for (byte[] part : parts) {
      assertEquals(new PartHead("file", "a"), reader.next());
      assertArrayEquals(part, content(reader));
    }
    assertNull(reader.next());
    reader.finish();
    pieces.assertReleased();
  }

  /** Whatever the bytes are: an end, or an error of the client. */
  @Property(tries = 3000)
  void bytesWithoutSenseAreRefused(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    byte[] body = (HEAD.repeat(random.nextInt(2)) + HEAD).getBytes(ISO_8859_1);
    for (int change = random.nextInt(5); change >= 0; change--) {
      body[random.nextInt(body.length)] = (byte) random.nextInt(256);
    }
    Pieces pieces = cut(body, random);
    MultipartReader reader = new MultipartReader(pieces, BOUNDARY, BUDGET);
    S3Exception refused =
        assertThrows(
            S3Exception.class,
            () -> {
              while (reader.next() != null) {
                content(reader);
              }
              reader.finish();
            });
    assertEquals(400, refused.error().status());
    reader.close();
    pieces.assertReleased();
  }

  private static MultipartReader reader(String body) {
    byte[] bytes = body.getBytes(ISO_8859_1);
    Pieces pieces = new Pieces();
    pieces.add(bytes, 0, bytes.length);
    return new MultipartReader(pieces, BOUNDARY, BUDGET);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no delimiter at all",
        "--b",
        "--b\r\n",
        "--b\n" + "Content-Disposition: form-data; name=a\n\nx\r\n--b--",
        "--b\r\n\r\nno head\r\n--b--",
        "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition form-data; name=a\r\n\r\nx\r\n--b--",
        "--b\r\n : form-data; name=a\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=\"\"\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=\"a\" b\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=a\r\n"
            + "Content-Disposition: form-data; name=b\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=\"\u00ff\"\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx",
        "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b",
        "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b-",
        "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--bx",
        "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx--b--",
      })
  void whatIsMalformed(String body) {
    MultipartReader reader = reader(body);
    S3Exception refused =
        assertThrows(
            S3Exception.class,
            () -> {
              while (reader.next() != null) {
                content(reader);
              }
            });
    assertEquals(S3Error.MALFORMED_POST_REQUEST, refused.error());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"",
        "--b \t\r\ncontent-disposition:form-data;name=FILE;filename=a",
        "--b\r\nContent-Type: x\r\nContent-Disposition: form-data; filename=\"C:\\x\\a\"; name=File",
        "--b\r\nContent-Disposition: form-data; filename=\"/x/a\"; x=y; name=\"file\"",
      })
  void headsThatMeanTheSame(String head) throws Exception {
    MultipartReader reader = reader(head + "\r\n\r\n1\r\n--b--");
    assertEquals(new PartHead("file", "a"), reader.next());
    assertEquals("1", new String(content(reader), ISO_8859_1));
    assertNull(reader.next());
  }

  @Test
  void onlyQuotesAreEscaped() throws Exception {
    PartHead head =
        PartHead.ofLine("Content-Disposition: form-data; name=file; filename=\"a \\\"b\\\".c\"");
    assertEquals("a \"b\".c", assertNotNullHead(head).fileName());
  }

  private static PartHead assertNotNullHead(@Nullable PartHead head) {
    assertNotNull(head);
    return head;
  }

  @Test
  void budgetBoundsAllButContentThatIsHandedOut() throws Exception {
    String part = HEAD + "1\r\n";
    MultipartReader many = reader(part.repeat(BUDGET / part.length() + 2) + "--b--");
    exceeds(() -> assertNotNullHead(many.next()));
    MultipartReader preamble = reader("x".repeat(BUDGET) + "\r\n" + part + "--b--");
    exceeds(() -> preamble.next());
    MultipartReader name =
        reader("--b\r\nContent-Disposition: form-data; name=" + "n".repeat(BUDGET));
    exceeds(() -> name.next());
    MultipartReader value = reader(HEAD + "x".repeat(BUDGET) + "\r\n--b--");
    value.next();
    exceeds(() -> value.value());
    MultipartReader end = reader(HEAD + "\r\n--b--" + "x".repeat(BUDGET));
    end.next();
    assertNull(end.next());
    exceeds(end::finish);
    MultipartReader content = reader(HEAD + "x".repeat(10 * BUDGET) + "\r\n--b--");
    content.next();
    assertEquals(10 * BUDGET, content(content).length);
    content.renewBudget();
    assertNull(content.next());
  }

  private interface Action {
    void run() throws Exception;
  }

  private static void exceeds(Action action) {
    S3Exception refused =
        assertThrows(
            S3Exception.class,
            () -> {
              for (int i = 0; i < BUDGET; i++) {
                action.run();
              }
            });
    assertEquals(S3Error.MAX_POST_PRE_DATA_LENGTH_EXCEEDED, refused.error());
  }
}
