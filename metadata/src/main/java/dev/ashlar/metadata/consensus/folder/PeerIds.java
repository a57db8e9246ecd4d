package dev.ashlar.metadata.consensus.folder;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.ratis.protocol.RaftPeerId;

/** The Raft ids of metadata peers. */
public final class PeerIds {
  private static final Pattern FOUNDER = Pattern.compile("m([1-9]\\d{0,3})");
  private static final int JOINED_ID_DIGITS = 12;

  private PeerIds() {}

  /** The id of a founding peer, from its place among the founders, from 0. */
  public static RaftPeerId ofFounder(int place) {
    return RaftPeerId.valueOf("m" + (place + 1));
  }

  /** The place of a founding peer; -1 for a peer that joined later. */
  public static int placeOf(RaftPeerId id) {
    Matcher founder = FOUNDER.matcher(id.toString());
    return founder.matches() ? Integer.parseInt(founder.group(1)) - 1 : -1;
  }

  /** The id of a peer that joins later; unique, because the format of its folder is. */
  public static RaftPeerId ofJoining(String format) {
    return RaftPeerId.valueOf("m-" + format.replace("-", "").substring(0, JOINED_ID_DIGITS));
  }
}
