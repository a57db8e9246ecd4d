package dev.ashlar.protocol.wire;

/**
 * Calls of metadata peers, by each other and by other processes. Requests and answers are protobuf
 * messages, sent as the data of these.
 */
public sealed interface CallMessage extends Message {
  /** Bytes of data that follow, in the message's own frame and in DATA frames. */
  int length();

  /** Every call gets exactly one answer, or the connection ends. */
  record Call(Method method, int length) implements CallMessage {
    public Call {
      if (length < 0 || length > Wire.CALL_BYTES_MAX) {
        throw new IllegalArgumentException("call of " + length + " bytes");
      }
    }
  }

  /** The outcome of a call, and its result. */
  record Answer(Outcome outcome, int length) implements CallMessage {
    public Answer {
      if (length < 0 || length > Wire.ANSWER_BYTES_MAX) {
        throw new IllegalArgumentException("answer of " + length + " bytes");
      }
    }
  }

  /** What is called, with the types of its request and result; the numbers never change. */
  enum Method implements Coded {
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
    INSTALL(19),
    /**
     * Ratis' StartLeaderElectionRequestProto: nothing. The sender, who leads in the term of the
     * entry, answers no more reads in it.
     */
    RELEASE(20),
    /** Ratis' StartLeaderElectionRequestProto, and its reply. Likewise; ask for votes now. */
    ELECT(21);

    private final byte code;

    Method(int code) {
      this.code = (byte) code;
    }

    @Override
    public byte code() {
      return code;
    }
  }

  /** How a call ended; the numbers never change. */
  enum Outcome implements Coded {
    DONE(0),
    /** It had no effect because another peer leads; comes with a LeaderHint. */
    NOT_LEADER(1),
    /** It has no effect, for the reason in the text; another peer may execute it. */
    REFUSED(2),
    /** It may have taken effect or may still do, for the reason in the text. */
    UNKNOWN(3),
    /** It can never be answered, for the reason in the text. */
    FAILED(4),
    /** It has no effect because too many calls wait; other peers would not help. */
    OVERLOADED(5);

    private final byte code;

    Outcome(int code) {
      this.code = (byte) code;
    }

    @Override
    public byte code() {
      return code;
    }
  }
}
