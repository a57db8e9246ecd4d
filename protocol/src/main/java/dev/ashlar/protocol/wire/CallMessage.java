package dev.ashlar.protocol.wire;

/**
 * Calls that name no drive: the peers of the metadata group among themselves, and others that ask
 * it. What is asked and answered are protobuf messages, which are the data of these.
 */
public sealed interface CallMessage extends Message {
  /** Bytes of the data behind it, in its own frame and DATA frames. */
  int length();

  /** Asks for something. Every call gets one answer, or the connection ends. */
  record Call(Method method, int length) implements CallMessage {
    public Call {
      if (length < 0 || length > Wire.CALL_BYTES_MAX) {
        throw new IllegalArgumentException("call of " + length + " bytes");
      }
    }

    @Override
    public MessageType type() {
      return MessageType.CALL;
    }
  }

  /** How a call ended, and what it brought. */
  record Answer(Outcome outcome, int length) implements CallMessage {
    public Answer {
      if (length < 0 || length > Wire.ANSWER_BYTES_MAX) {
        throw new IllegalArgumentException("answer of " + length + " bytes");
      }
    }

    @Override
    public MessageType type() {
      return MessageType.ANSWER;
    }
  }

  /** What is called; the numbers are for ever. */
  enum Method {
    /** Command: CommandResult. */
    SUBMIT(1),
    /** MetadataQuery: MetadataAnswer. */
    QUERY(2),
    /** ClusterWatch: ClusterState. */
    WATCH(3),
    /** Nothing: PeersStatus. */
    PEERS(4),
    /** PeersChange: PeersChangeAnswer. */
    CHANGE_PEERS(5),
    /** Nothing: PeerStanding. */
    STANDING(16),
    /** Ratis' RequestVoteRequestProto, and its reply. */
    VOTE(17),
    /** Ratis' AppendEntriesRequestProto, and its reply. */
    APPEND(18),
    /** Ratis' InstallSnapshotRequestProto, and its reply. */
    INSTALL(19);

    private static final Method[] ALL = values();
    private final byte code;

    Method(int code) {
      this.code = (byte) code;
    }

    byte code() {
      return code;
    }

    static Method of(byte code) throws WireFormatException {
      for (Method method : ALL) {
        if (method.code == code) {
          return method;
        }
      }
      throw new WireFormatException("method " + code);
    }
  }

  /** How a call ended; the numbers are for ever. */
  enum Outcome {
    DONE(0),
    /** It had no effect: another peer leads. A LeaderHint. */
    NOT_LEADER(1),
    /** It had and will have no effect, for the reason in the text; another peer may do it. */
    REFUSED(2),
    /** It may have had an effect, or have one yet, for the reason in the text. */
    UNKNOWN(3),
    /** It cannot be answered, now or later, for the reason in the text. */
    FAILED(4),
    /** It had and will have no effect, and others would not help: too much waits. */
    OVERLOADED(5);

    private static final Outcome[] ALL = values();
    private final byte code;

    Outcome(int code) {
      this.code = (byte) code;
    }

    byte code() {
      return code;
    }

    static Outcome of(byte code) throws WireFormatException {
      for (Outcome outcome : ALL) {
        if (outcome.code == code) {
          return outcome;
        }
      }
      throw new WireFormatException("outcome " + code);
    }
  }
}
