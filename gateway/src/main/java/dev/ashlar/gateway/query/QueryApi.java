package dev.ashlar.gateway.query;

/** A service that speaks the query protocol. */
public enum QueryApi {
  IAM("iam", "2010-05-08", "https://iam.amazonaws.com/doc/2010-05-08/"),
  STS("sts", "2011-06-15", "https://sts.amazonaws.com/doc/2011-06-15/");

  private final String service;
  private final String version;
  private final String namespace;

  QueryApi(String service, String version, String namespace) {
    this.service = service;
    this.version = version;
    this.namespace = namespace;
  }

  /** As in the scope of signatures and in the names of actions in policies. */
  public String service() {
    return service;
  }

  String version() {
    return version;
  }

  String namespace() {
    return namespace;
  }
}
