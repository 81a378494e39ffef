CREATE TABLE "secret_key_checks" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"key_check" "bytea",
	CONSTRAINT "secret_key_checks_one" CHECK ("secret_key_checks"."is_only")
);
