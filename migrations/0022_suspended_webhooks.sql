ALTER TABLE "hooks" ADD COLUMN "suspended_at" timestamp (3) with time zone;
