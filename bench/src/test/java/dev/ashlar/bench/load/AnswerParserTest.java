package dev.ashlar.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class AnswerParserTest {
  private static final String TWO =
      "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\nhello"
          + "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";

  private final AnswerParser parser = new AnswerParser();

  /** However the network cuts it. */
  @Test
  void readsAnswersInPieces() throws Exception {
    for (int piece = 1; piece <= TWO.length(); piece++) {
      ByteBuf in = Unpooled.buffer();
      int answers = 0;
      for (int at = 0; at < TWO.length(); at += piece) {
        in.writeBytes(bytes(TWO.substring(at, Math.min(TWO.length(), at + piece))));
        while (in.isReadable() && parser.read(in)) {
          answers++;
          assertEquals(answers == 1 ? 206 : 204, parser.status());
          assertEquals(answers == 1 ? 5 : 0, parser.bodyBytes());
          assertEquals(answers == 2, parser.isLast());
          assertFalse(parser.isError());
        }
      }
      assertEquals(2, answers);
    }
  }

  @Test
  void anAnswerToHeadHasNoBody() throws Exception {
    parser.expect(true);
    ByteBuf in =
        Unpooled.wrappedBuffer(bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + TWO));
    assertTrue(parser.read(in));
    assertEquals(200, parser.status());
    parser.expect(false);
    assertTrue(parser.read(in));
    assertEquals(5, parser.bodyBytes());
  }

  @Test
  void namesErrors() throws Exception {
    String body = "<?xml?><Error><Code>SlowDown</Code></Error>";
    String text = "HTTP/1.1 503 Slow\r\ncontent-length: " + body.length() + "\r\n\r\n" + body;
    assertTrue(parser.read(Unpooled.wrappedBuffer(bytes(text))));
    assertTrue(parser.isError());
    assertEquals("HTTP 503 SlowDown", parser.errorName());
    assertTrue(
        parser.read(Unpooled.wrappedBuffer(bytes("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))));
    assertEquals("HTTP 404", parser.errorName());
  }

  @Test
  void refusesWhatItCannotFollow() {
    for (String wrong :
        new String[] {
          "SSH-2.0-OpenSSH\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
          "HTTP/1.1 200 OK\r\n" + "x".repeat(20_000)
        }) {
      assertThrows(
          AnswerParser.UnreadableException.class,
          () -> new AnswerParser().read(Unpooled.wrappedBuffer(bytes(wrong))));
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }
}
