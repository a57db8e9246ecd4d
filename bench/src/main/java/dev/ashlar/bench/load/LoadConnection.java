package dev.ashlar.bench.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One connection with at most one request on its way. Lives on its loop's thread. */
final class LoadConnection extends ChannelInboundHandlerAdapter {
  /** Heard by the loop. */
  interface Owner {
    void connected(LoadConnection connection);

    /** The server has closed the connection while nothing was on its way. */
    void lost(LoadConnection connection);

    /**
     * The operation has ended.
     *
     * @param error what went wrong
     * @param end what that means for the connection
     */
    void ended(LoadConnection connection, Flight flight, @Nullable String error, End end);
  }

  /** How an operation ends. */
  enum End {
    /** With an answer; the connection goes on. */
    ANSWERED,
    /** With an answer, the connection's last. */
    ANSWERED_LAST,
    /** Without one. */
    LOST
  }

  /**
   * An operation on its way.
   *
   * @param fromNanos where its latency begins: when it was meant to begin
   */
  record Flight(Operation operation, long fromNanos, long sentNanos) {}

  private static final int HEAD_BYTES = 640;
  private static final String STORAGE_CLASS = "x-amz-storage-class";
  private static final String WRITE_OFFSET = "x-amz-write-offset-bytes";

  private final int number;
  private final Target target;
  private final Signer signer;
  private final Payload payload;
  private final Owner owner;
  private final AnswerParser parser = new AnswerParser();
  private final StringBuilder head = new StringBuilder(HEAD_BYTES);
  private @Nullable Channel channel;
  private @Nullable Flight flight;
  private int variant;

  /**
   * @param number of all connections of a run
   */
  LoadConnection(int number, Target target, Signer signer, Payload payload, Owner owner) {
    this.number = number;
    this.target = target;
    this.signer = signer;
    this.payload = payload;
    this.owner = owner;
    variant = number % Payload.VARIANTS;
  }

  int number() {
    return number;
  }

  boolean isOpen() {
    return channel != null;
  }

  boolean isBusySince(long nanos) {
    return flight != null && flight.sentNanos() - nanos < 0;
  }

  void send(Operation operation, long fromNanos) {
    Channel open = Objects.requireNonNull(channel);
    variant = (variant + 1) % Payload.VARIANTS;
    flight = new Flight(operation, fromNanos, System.nanoTime());
    parser.expect(operation.kind() == Kind.STAT);
    writeHead(operation);
    ByteBuf out = open.alloc().directBuffer(HEAD_BYTES);
    out.writeCharSequence(head, StandardCharsets.ISO_8859_1);
    write(open, out);
    if (operation.kind().sendsBody()) {
      payload.pieces(variant, operation.bytes(), piece -> write(open, piece));
    }
    open.flush();
  }

  private void writeHead(Operation operation) {
    boolean isList = operation.kind() == Kind.LIST;
    String path = isList ? target.path() : target.path(operation.key());
    String query = isList ? operation.key() : "";
    head.setLength(0);
    head.append(operation.kind().method()).append(' ').append(path);
    head.append(isList ? "?" : "").append(query).append(" HTTP/1.1\r\nHost: ");
    head.append(target.hostHeader()).append("\r\n");
    String offset = Long.toString(operation.offset());
    String last = Long.toString(operation.offset() + operation.bytes() - 1);
    if (operation.kind() == Kind.READ && operation.offset() != Operation.WHOLE) {
      head.append("Range: bytes=").append(offset).append('-').append(last).append("\r\n");
    }
    if (operation.kind() == Kind.PATCH) {
      head.append("Content-Range: bytes ").append(offset).append('-').append(last);
      head.append("/*\r\n");
    }
    if (operation.kind().sendsBody()) {
      head.append("Content-Length: ").append(operation.bytes()).append("\r\n");
    }
    signer.headers(
        operation.kind().method(),
        path,
        query,
        operation.kind().sendsBody()
            ? payload.hash(variant, operation.bytes())
            : Signer.EMPTY_PAYLOAD,
        more(operation),
        head);
    head.append("\r\n");
  }

  private SortedMap<String, String> more(Operation operation) {
    Kind kind = operation.kind();
    String storageClass = kind.picksStorageClass() ? target.storageClass() : null;
    if (kind != Kind.APPEND && storageClass == null) {
      return Collections.emptySortedMap();
    }
    SortedMap<String, String> more = new TreeMap<>();
    if (storageClass != null) {
      more.put(STORAGE_CLASS, storageClass);
    }
    if (kind == Kind.APPEND) {
      more.put(WRITE_OFFSET, Long.toString(operation.offset()));
    }
    return more;
  }

  void close(String reason) {
    Channel open = channel;
    if (open != null) {
      fail(reason);
      close(open);
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    channel = context.channel();
    owner.connected(this);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    try {
      while (in.isReadable() && parser.read(in)) {
        answered();
      }
    } catch (AnswerParser.UnreadableException | NumberFormatException e) {
      close("unreadable answer: " + e.getMessage());
    } finally {
      in.release();
    }
  }

  private void answered() {
    Flight ended = flight;
    if (ended == null) {
      close("an answer without a request");
      return;
    }
    flight = null;
    boolean isLast = parser.isLast();
    if (isLast) {
      closeQuietly();
    }
    owner.ended(this, ended, error(ended.operation()), isLast ? End.ANSWERED_LAST : End.ANSWERED);
  }

  private @Nullable String error(Operation operation) {
    if (parser.isError()) {
      return parser.errorName();
    }
    boolean isShort = operation.kind() == Kind.READ && parser.bodyBytes() != operation.bytes();
    return isShort ? "a body of another length than asked for" : null;
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (flight == null && channel != null) {
      channel = null;
      owner.lost(this);
    } else {
      fail("connection closed");
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    close(String.valueOf(cause.getMessage()));
  }

  private void fail(String reason) {
    Flight ended = flight;
    flight = null;
    channel = null;
    if (ended != null) {
      owner.ended(this, ended, reason, End.LOST);
    }
  }

  private static void write(Channel channel, ByteBuf bytes) {
    var unused = channel.write(bytes, channel.voidPromise());
  }

  private static void close(Channel channel) {
    var unused = channel.close();
  }

  private void closeQuietly() {
    if (channel != null) {
      close(channel);
      channel = null;
    }
  }
}
