package dev.ashlar.gateway.access.acl;

/** To whom an ACL grants something. */
public sealed interface Grantee {
  /** An account, by its canonical user id. */
  record Account(String canonicalId) implements Grantee {}

  /** A group that is known by its URI. */
  enum Group implements Grantee {
    /** Everybody, also without a signature. */
    ALL_USERS("http://acs.amazonaws.com/groups/global/AllUsers"),

    /** Everybody whose request is signed, of any account. */
    AUTHENTICATED_USERS("http://acs.amazonaws.com/groups/global/AuthenticatedUsers"),

    /** The part of the server that writes access logs. */
    LOG_DELIVERY("http://acs.amazonaws.com/groups/s3/LogDelivery");

    private final String uri;

    Group(String uri) {
      this.uri = uri;
    }

    public String uri() {
      return uri;
    }

    public boolean isPublic() {
      return this != LOG_DELIVERY;
    }
  }
}
