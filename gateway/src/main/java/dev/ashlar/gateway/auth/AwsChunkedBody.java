package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import io.netty.buffer.ByteBuf;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Removes the aws-chunked framing of a body. Payload bytes are slices of the received buffers.
 *
 * <pre>
 * body    = *( size [ext] CRLF data CRLF ) "0" [ext] CRLF *( name ":" value CRLF ) CRLF
 * ext     = ";chunk-signature=" 64 hex digits      ; in the signed forms, and there required
 * </pre>
 *
 * The trailers exist in the -TRAILER forms only; in the signed one the last of them is
 * x-amz-trailer-signature.
 */
final class AwsChunkedBody implements RequestBody {
  private static final String EXTENSION = ";chunk-signature=";
  private static final String TRAILER_SIGNATURE = "x-amz-trailer-signature";
  private static final int LINE_CHARS_MAX = 4096;
  private static final int TRAILERS_MAX = 16;
  private static final int SIZE_DIGITS_MAX = 15;
  private static final int CHUNK_BYTES_MIN = 8192;

  private enum State {
    SIZE,
    DATA,
    DATA_END,
    TRAILERS,
    END
  }

  private final RequestBody source;
  private final long length;
  private final @Nullable ChunkVerifier verifier;
  private final boolean withTrailers;
  private final StringBuilder line = new StringBuilder(96);
  private final StringBuilder trailerLines = new StringBuilder();
  private final Map<String, String> trailers = new HashMap<>();
  private State state = State.SIZE;
  private @Nullable ByteBuf input;
  private long chunkLeft;
  private long undelivered;
  private long shortChunk = -1;
  private boolean trailersSigned;

  /**
   * @param length the payload's, as x-amz-decoded-content-length promised
   * @param verifier null when chunks are not signed
   */
  AwsChunkedBody(
      RequestBody source, long length, @Nullable ChunkVerifier verifier, boolean withTrailers) {
    this.source = source;
    this.length = length;
    this.undelivered = length;
    this.verifier = verifier;
    this.withTrailers = withTrailers;
  }

  @Override
  public long length() {
    return length;
  }

  /** By lower-case name; complete at the end of the body. */
  @Nullable String trailer(String name) {
    return trailers.get(name);
  }

  /** Releases the buffer that was not read to its end, and those of unverified chunks. */
  void close() {
    releaseInput();
    if (verifier != null) {
      verifier.close();
    }
  }

  private void releaseInput() {
    if (input != null) {
      input.release();
      input = null;
    }
  }

  @Override
  public @Nullable ByteBuf read() throws S3Exception, InterruptedException {
    try {
      return next();
    } catch (S3Exception e) {
      if (verifier != null) {
        verifier.verifyHeld(); // a chunk before that does not match is the error
      }
      throw e;
    }
  }

  private @Nullable ByteBuf next() throws S3Exception, InterruptedException {
    while (true) {
      ByteBuf in = input();
      if (in == null) {
        if (state != State.END) {
          throw new S3Exception(S3Error.INCOMPLETE_BODY);
        }
        return null;
      }
      switch (state) {
        case DATA -> {
          return data(in);
        }
        case SIZE, DATA_END, TRAILERS -> {
          if (completeLine(in)) {
            takeLine();
          }
        }
        case END -> throw malformed();
      }
    }
  }

  private @Nullable ByteBuf input() throws S3Exception, InterruptedException {
    if (input != null && !input.isReadable()) {
      releaseInput();
    }
    if (input == null) {
      input = source.read();
    }
    return input;
  }

  private ByteBuf data(ByteBuf in) throws S3Exception {
    int bytes = (int) Math.min(chunkLeft, in.readableBytes());
    if (verifier != null) {
      verifier.add(in.slice(in.readerIndex(), bytes));
    }
    ByteBuf piece = in.readRetainedSlice(bytes);
    chunkLeft -= bytes;
    undelivered -= bytes;
    if (chunkLeft == 0) {
      state = State.DATA_END;
    }
    return piece;
  }

  /** Adds to the line; true when its end has come. */
  private boolean completeLine(ByteBuf in) throws S3Exception {
    int start = in.readerIndex();
    int end = in.indexOf(start, in.writerIndex(), (byte) '\n');
    int bytes = (end < 0 ? in.writerIndex() : end) - start;
    if (line.length() + bytes > LINE_CHARS_MAX) {
      throw malformed();
    }
    line.append(in.readCharSequence(bytes, ISO_8859_1));
    if (end < 0) {
      return false;
    }
    in.skipBytes(1);
    return true;
  }

  private void takeLine() throws S3Exception {
    int last = line.length() - 1;
    boolean carriageReturn = last >= 0 && line.charAt(last) == '\r';
    // Amazon's own examples end trailers with a bare line feed.
    if (!carriageReturn && state != State.TRAILERS) {
      throw malformed();
    }
    line.setLength(carriageReturn ? last : last + 1);
    String text = line.toString();
    line.setLength(0);
    switch (state) {
      case SIZE -> beginChunk(text);
      case DATA_END -> endChunk(text);
      case TRAILERS -> trailer(text, carriageReturn);
      case DATA, END -> throw new IllegalStateException("no line expected in " + state);
    }
  }

  private void beginChunk(String text) throws S3Exception {
    int semicolon = text.indexOf(';');
    long size = size(semicolon < 0 ? text : text.substring(0, semicolon));
    boolean isSigned = semicolon >= 0 && text.startsWith(EXTENSION, semicolon);
    if (verifier != null && !isSigned) {
      throw new S3Exception(S3Error.SIGNATURE_DOES_NOT_MATCH);
    }
    if (size > undelivered || (size == 0 && undelivered > 0)) {
      throw new S3Exception(S3Error.INCOMPLETE_BODY);
    }
    if (shortChunk >= 0 && size > 0) {
      throw new S3Exception(S3Error.INVALID_CHUNK_SIZE_ERROR).with("BadChunkSize", shortChunk);
    }
    if (verifier != null) {
      verifier.begin(size, text.substring(semicolon + EXTENSION.length()));
    }
    if (size == 0) {
      endData();
      return;
    }
    shortChunk = size < CHUNK_BYTES_MIN ? size : -1;
    chunkLeft = size;
    state = State.DATA;
  }

  private static long size(String hex) throws S3Exception {
    if (hex.isEmpty() || hex.length() > SIZE_DIGITS_MAX) {
      throw malformed();
    }
    long size = 0;
    for (int i = 0; i < hex.length(); i++) {
      int digit = Character.digit(hex.charAt(i), 16);
      if (digit < 0) {
        throw malformed();
      }
      size = (size << 4) | digit;
    }
    return size;
  }

  private void endChunk(String text) throws S3Exception {
    if (!text.isEmpty()) {
      throw malformed();
    }
    if (verifier != null) {
      verifier.end();
    }
    state = State.SIZE;
  }

  /** The chunk without data, which ends the body, has begun. */
  private void endData() throws S3Exception {
    if (verifier != null) {
      verifier.end();
      verifier.verifyHeld();
    }
    state = State.TRAILERS;
  }

  private void trailer(String text, boolean carriageReturn) throws S3Exception {
    if (text.isEmpty()) {
      endTrailers(carriageReturn);
      return;
    }
    int colon = text.indexOf(':');
    if (!withTrailers || colon <= 0 || trailersSigned || trailers.size() >= TRAILERS_MAX) {
      throw malformedTrailer();
    }
    String name = text.substring(0, colon).strip().toLowerCase(Locale.ROOT);
    String value = text.substring(colon + 1).strip();
    if (name.equals(TRAILER_SIGNATURE)) {
      if (verifier != null) {
        verifier.verifyTrailers(trailerLines.toString(), value);
      }
      trailersSigned = true;
    } else {
      trailerLines.append(name).append(':').append(value).append('\n');
      if (trailers.put(name, value) != null) {
        throw malformedTrailer();
      }
    }
  }

  private void endTrailers(boolean carriageReturn) throws S3Exception {
    boolean signatureDue = withTrailers && verifier != null && !trailersSigned;
    // The documented form of signed trailers has an empty line before their signature.
    if ((signatureDue && trailers.isEmpty()) || !carriageReturn) {
      throw malformedTrailer();
    }
    if (!signatureDue) {
      state = State.END;
    }
  }

  private static S3Exception malformed() {
    return new S3Exception(S3Error.INCOMPLETE_BODY);
  }

  private static S3Exception malformedTrailer() {
    return new S3Exception(S3Error.MALFORMED_TRAILER_ERROR);
  }
}
